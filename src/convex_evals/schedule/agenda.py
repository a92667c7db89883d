"""What the schedule says now, from the registry of models and their runs in the scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from convex_evals.core.settings import Settings
from convex_evals.models import ModelEntry, Registry
from convex_evals.runner import NOT_SCORES, RunScore, Sum, is_filtered
from convex_evals.schedule.policy import Candidate, Spent, Turn, plan
from convex_evals.schedule.rules import Rules, read_rules
from convex_evals.scores import Answer, Result, RunFilter, RunRecord

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

SCHEDULED: Final = "scheduled"
"""Label of a run that the schedule began."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """What the schedule says now."""

    turns: tuple[Turn, ...]
    rules: Rules
    spent: Spent

    @property
    def due(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if turn.state == "due")


CanResume = Callable[[RunRecord], bool]


def read_agenda(
    store: "ScoresStore",
    settings: Settings,
    registry: Registry,
    now: datetime | None = None,
    can_resume: CanResume = lambda run: True,
) -> Agenda:
    """`can_resume` is asked where the suite is: whether the rest of a run can still be planned."""
    now = now or datetime.now(UTC)
    rules = read_rules(settings.project_file)
    spent = spent_this_month(store, rules, now)
    turns = plan(candidates(registry, store, rules, can_resume), rules, now, newest_minting(store), spent)
    return Agenda(turns, rules, spent)


def agenda_json(agenda: Agenda) -> dict[str, Any]:
    return {
        "spentThisMonth": agenda.spent.month,
        "budgetPerMonth": agenda.rules.budget_per_month,
        "budgetPerTick": agenda.rules.budget_per_tick,
        "turns": [
            {
                "model": turn.candidate.model,
                "experiment": turn.candidate.experiment,
                "state": turn.state,
                "at": turn.at.isoformat(),
                "why": turn.why,
                "expectedCost": turn.cost,
                "lastRun": turn.candidate.last_run.isoformat() if turn.candidate.last_run else None,
                "resumes": turn.candidate.unfinished,
            }
            for turn in agenda.turns
        ],
    }


class Figures(NamedTuple):
    """Of a complete run: half of its score's interval, and what it cost; None when a part of that is not known."""

    margin: float | None
    cost: float | None


def candidates(
    registry: Registry, store: "ScoresStore", rules: Rules, can_resume: CanResume = lambda run: True
) -> tuple[Candidate, ...]:
    """Every listed model of a provider that the rules include, in each of its experiments."""
    models = [each for each in registry.models.values() if _is_asked(each) and rules.includes(each.slug)]
    places = [(each, experiment) for each in models for experiment in rules.of(each.slug).experiments]
    runs = _by_place(store.runs())
    last = {place: run for place, found in runs.items() if (run := _newest_complete(found)) is not None}
    known = _figures(store, [last[place] for each, experiment in places if (place := (each.slug, experiment)) in last])
    return tuple(
        _candidate(each, experiment, runs.get((each.slug, experiment), ()), known, store, can_resume)
        for each, experiment in places
    )


def _newest_complete(runs: Iterable[RunRecord]) -> RunRecord | None:
    """They come newest first."""
    return next((run for run in runs if run.is_complete), None)


def newest_minting(store: "ScoresStore") -> datetime | None:
    known = store.benchmarks()
    return known[0].minted_at if known else None


def spent_this_month(store: "ScoresStore", rules: Rules, now: datetime) -> Spent:
    return Spent(spent_since(now.replace(day=1, hour=0, minute=0, second=0, microsecond=0), store, rules))


def spent_since(moment: datetime, store: "ScoresStore", rules: Rules) -> float:
    """For answers of all runs, scheduled or not, whenever these began: it is the same account."""
    runs = [run for run in store.runs(RunFilter(hidden=True)) if run.finished_at is None or run.finished_at >= moment]
    answers = store.history.answers([run.id for run in runs])
    return sum(
        _assumed_cost(run, rules) if answer.cost_usd is None else answer.cost_usd
        for run in runs
        for answer in answers[run.id]
        if (answer.recorded_at or run.started_at) >= moment
    )


def _assumed_cost(run: RunRecord, rules: Rules) -> float:
    """Of an answer whose cost nobody knows: its share of what the rules assume for a scheduled run."""
    return rules.assumed_cost / run.counts.total if SCHEDULED in run.labels and run.counts.total else 0.0


def _is_asked(entry: ModelEntry) -> bool:
    return entry.api not in ("built-in", "recorded")


def _by_place(runs: Iterable[RunRecord]) -> dict[tuple[str, str], list[RunRecord]]:
    """Runs of whole suites that say something about a model, the newest first."""
    found: dict[tuple[str, str], list[RunRecord]] = {}
    for run in runs:
        if not NOT_SCORES & set(run.labels) and not is_filtered(run):
            found.setdefault((run.model, run.experiment), []).append(run)
    return found


def _candidate(
    entry: ModelEntry,
    experiment: str,
    runs: Sequence[RunRecord],
    known: Mapping[str, Figures],
    store: "ScoresStore",
    can_resume: CanResume,
) -> Candidate:
    """A run that was stopped, or whose process died, has not failed as long as it can be resumed."""
    last = _newest_complete(runs)
    since = list(_after(runs, last))
    ended = [run for run in since if run.status != "running" or not store.is_run_held(run.id)]
    scheduled = [run for run in ended if SCHEDULED in run.labels]
    unfinished = [run for run in scheduled if run.status != "completed" and can_resume(run)]
    over = [run for run in scheduled if run not in unfinished]
    failed = [run for run in ended if run.status == "failed" or run in over]
    return Candidate(
        model=entry.slug,
        experiment=experiment,
        known_since=datetime.combine(entry.first_seen, time(), UTC) if entry.first_seen else None,
        last_run=_ended(last) if last else None,
        margin=known[last.id].margin if last else None,
        cost=known[last.id].cost if last else None,
        failures=len(failed),
        last_failure=_ended(failed[0]) if failed else None,
        unfinished=unfinished[0].id if unfinished else None,
        running=len(ended) < len(since),
    )


def _ended(run: RunRecord) -> datetime:
    return run.finished_at or run.started_at


def _after(runs: Sequence[RunRecord], last: RunRecord | None) -> Iterator[RunRecord]:
    for run in runs:
        if run is last:
            return
        yield run


def _figures(store: "ScoresStore", runs: Sequence[RunRecord]) -> dict[str, Figures]:
    """By run, of all of them in a few statements."""
    ids = [run.id for run in runs]
    results, answers = store.history.results(ids), store.history.answers(ids)
    return {run.id: Figures(_margin(run, results[run.id]), _cost(answers[run.id])) for run in runs}


def _margin(run: RunRecord, results: Sequence[Result]) -> float | None:
    found = RunScore.of(run, results).score
    return (found.interval.high - found.interval.low) / 2 if found else None


def _cost(answers: Iterable[Answer]) -> float | None:
    cost = Sum.of(answer.cost_usd for answer in answers)
    return cost.total if cost.known and not cost.unknown else None
