"""Runs that go on, trial by trial, until it is sure which is better: looks, further trials, and why it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from convex_evals.runner.budget import Budget, dollars
from convex_evals.runner.results import tallies
from convex_evals.runner.work import ActiveRun, WorkItem
from convex_evals.statistics import Look, Tallies, look, unsettled

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

LOOKS: Final = 5
"""How many looks there are at most, and trials of each eval, unless a user says otherwise."""


@dataclass(slots=True)
class UntilSure:
    """The comparisons that are wanted: of all `runs` with each other, or of each with the run `against`.

    A comparison that is decided stays so. `looks` is how often it may be looked at; each look follows a trial.
    """

    store: "ScoresStore"
    runs: Sequence[ActiveRun]
    against: str | None = None
    looks: int = LOOKS
    budget: Budget | None = None
    number: int = field(init=False, default=0)
    decided: dict[tuple[str, str], Look] = field(init=False, default_factory=dict)
    latest: tuple[Look, ...] = field(init=False, default=())
    stopped: str = field(init=False, default="")
    _round: Sequence[ActiveRun] = field(init=False)
    _trials: dict[tuple[str, str], int] = field(init=False)

    def __post_init__(self) -> None:
        self._round = self.runs
        self._trials = {(run.id, work.eval.id): work.trial for run in self.runs for work in run.work}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        ids = [run.id for run in self.runs]
        return list(combinations(ids, 2)) if self.against is None else [(self.against, each) for each in ids]

    def next_round(self) -> list[ActiveRun]:
        """Looks at the verdicts and records which trials are next; none when it is over, and `stopped` says why."""
        verdicts = self._verdicts()
        self._look(verdicts)
        halted = next((run.halted.reason for run in self._round if run.halted is not None), None)
        undecided = [each for each in self.latest if each.pair not in self.decided]
        work = self._work(undecided, verdicts)
        self.stopped = halted or self._why_over(undecided, work)
        self._round = [] if self.stopped else [self._extended(run, each) for run, each in work if each]
        return list(self._round)

    def _verdicts(self) -> dict[str, Tallies]:
        """By run; of the run they are compared with only evals that are the same there."""
        found = {run.id: tallies(self.store.results(run.id)) for run in self.runs}
        if self.against is not None:
            same = set(self.store.planned(self.against)) & set(self.store.planned(self.runs[0].id))
            known = tallies(self.store.results(self.against))
            found[self.against] = {each.eval: known[each.eval] for each in same if each.eval in known}
        return found

    def _look(self, verdicts: Mapping[str, Tallies]) -> None:
        self.number += 1
        self.latest = look(verdicts, self.pairs, self.number, self.looks)
        for each in self.latest:
            if each.verdict != "cannot tell":
                self.decided.setdefault(each.pair, each)

    def _work(
        self, undecided: Sequence[Look], verdicts: Mapping[str, Tallies]
    ) -> list[tuple[ActiveRun, tuple[WorkItem, ...]]]:
        """One more trial of evals that are not settled in a comparison that trials can decide."""
        wanted: dict[str, set[str]] = {run.id: set() for run in self.runs}
        for each in undecided:
            if not each.is_hopeless:
                for run in set(each.pair) & wanted.keys():
                    wanted[run].update(unsettled(verdicts[each.pair[0]], verdicts[each.pair[1]]))
        return [(run, self._further(run, wanted[run.id])) for run in self.runs]

    def _further(self, run: ActiveRun, names: set[str]) -> tuple[WorkItem, ...]:
        items = {item.eval.id: item for item in run.work}
        further = (replace(items[name], trial=self._trials[run.id, name] + 1, stored=None) for name in sorted(names))
        return tuple(each for each in further if run.model.answers(each.eval, each.trial))

    def _why_over(self, undecided: Sequence[Look], work: Sequence[tuple[ActiveRun, tuple[WorkItem, ...]]]) -> str:
        if not self.latest:
            return "the runs share no eval with a verdict"
        if not undecided:
            return "every comparison is decided"
        if all(each.is_hopeless for each in undecided):
            return "no number of trials would decide the rest; it takes more evals"
        if not any(each for _, each in work):
            return "another trial would change nothing: on every eval left, both have always done the same"
        if self.number >= self.looks:
            return f"every eval that mattered had {self.looks} trials, the most that were asked for"
        return self._why_too_dear(work)

    def _why_too_dear(self, work: Sequence[tuple[ActiveRun, tuple[WorkItem, ...]]]) -> str:
        """A round is carried out whole or not at all, as far as its cost can be known."""
        if self.budget is None:
            return ""
        cost = sum(self.budget.expect(run, one) for run, each in work for one in each)
        left = self.budget.limit - self.budget.spent
        if cost <= left:
            return ""
        return f"the next trials would cost about {dollars(cost)}, and {dollars(left)} of the budget is left"

    def _extended(self, run: ActiveRun, work: tuple[WorkItem, ...]) -> ActiveRun:
        self.store.add_trials(run.id, [(each.eval.id, each.trial) for each in work])
        self.store.resume_run(run.id)
        self._trials.update({(run.id, each.eval.id): each.trial for each in work})
        return ActiveRun(run.id, run.model, run.options, work)
