"""Which evals look wrong from the outside: unrelated models fail at the same check, and their answers agree.

One model that fails says something about the model. Several that have nothing to do with one another, fail at the same
assertion and return the same thing there say something about the eval.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.text import listed, shortened
from convex_evals.core.verdicts import StepName
from convex_evals.models import BUILT_IN
from convex_evals.scores import AttemptDetails, PlannedEval, RunRecord

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

MOST_RUNS: Final = 60
LEAST_MODELS: Final = 2
LEAST_PROVIDERS: Final = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """The latest result of a model for an eval."""

    eval: str
    model: str
    provider: str
    passed: bool
    complaints: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedFailure:
    """One check of an eval that several models fail. `received` is what all of them returned, if that is the same."""

    eval: str
    check: str  # the fingerprint
    step: StepName
    name: str
    models: tuple[str, ...]
    providers: int
    asked: int  # models that have a verdict on this eval
    passed: int
    expected: str | None
    received: str | None

    @property
    def is_suspicious(self) -> bool:
        """Unrelated models agree with one another and not with the grader, and they are at least half of all."""
        unrelated = len(self.models) >= LEAST_MODELS and self.providers >= LEAST_PROVIDERS
        return unrelated and self.received is not None and 2 * len(self.models) >= self.asked

    def __str__(self) -> str:
        agreed = f" All of them returned {shortened(self.received, 80)}." if self.received is not None else ""
        failed = f"{len(self.models)} of {self.asked} models fail at {self.name or self.check}"
        return f"{failed} ({listed(self.models)}).{agreed}"


def suite_health(store: "ScoresStore", evals: Iterable[str] | None = None) -> tuple[SharedFailure, ...]:
    """Every check that more than one model fails, from the newest runs; the most suspicious first."""
    return shared_failures(read_verdicts(store, frozenset(evals) if evals is not None else None))


def read_verdicts(store: "ScoresStore", evals: frozenset[str] | None = None) -> tuple[Verdict, ...]:
    """The latest of every model, whatever run it is from, on the newest task and grader of an eval that were used.

    Built-in models do not count.
    """
    latest: dict[tuple[str, str], Verdict] = {}
    newest: dict[str, PlannedEval] = {}
    for run in [each for each in store.runs() if each.provider != BUILT_IN][:MOST_RUNS]:
        planned = {each.eval: each for each in store.planned(run.id)}
        for details in store.details(run.id):
            name = details.attempt.eval
            wanted = details.attempt.status in ("passed", "failed") and (evals is None or name in evals)
            if wanted and newest.setdefault(name, planned[name]) == planned[name] and (name, run.model) not in latest:
                latest[name, run.model] = _verdict(run, details)
    return tuple(latest.values())


def shared_failures(verdicts: Sequence[Verdict]) -> tuple[SharedFailure, ...]:
    found = [each for group in _by_eval(verdicts).values() for each in _shared(group)]
    return tuple(sorted(found, key=lambda each: (not each.is_suspicious, -len(each.models), each.eval, each.check)))


def _by_eval(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    grouped: defaultdict[str, list[Verdict]] = defaultdict(list)
    for each in verdicts:
        grouped[each.eval].append(each)
    return grouped


def _shared(verdicts: Sequence[Verdict]) -> Iterable[SharedFailure]:
    """Of one eval."""
    failing: defaultdict[str, list[tuple[Verdict, Diagnostic]]] = defaultdict(list)
    for verdict in verdicts:
        for check, complaint in {each.fingerprint: each for each in verdict.complaints}.items():
            failing[check].append((verdict, complaint))
    passed = sum(each.passed for each in verdicts)
    for check, group in failing.items():
        if check and len(group) >= LEAST_MODELS:
            yield _failure(check, group, len(verdicts), passed)


def _failure(check: str, group: Sequence[tuple[Verdict, Diagnostic]], asked: int, passed: int) -> SharedFailure:
    complaint = group[0][1]
    received = {each.received for _, each in group}
    return SharedFailure(
        group[0][0].eval,
        check,
        complaint.step,
        complaint.name or "",
        tuple(sorted(verdict.model for verdict, _ in group)),
        len({verdict.provider for verdict, _ in group}),
        asked,
        passed,
        complaint.expected,
        next(iter(received)) if len(received) == 1 else None,
    )


def _verdict(run: RunRecord, details: AttemptDetails) -> Verdict:
    attempt = details.attempt
    complaints = (each for step in details.steps if step.name == attempt.failed_step for each in step.diagnostics)
    return Verdict(attempt.eval, run.model, run.provider, attempt.status == "passed", tuple(complaints))
