"""Other answers to the same evals in the scores: of other models and trials, and the very same files elsewhere."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.models import BUILT_IN
from convex_evals.scores import AttemptDetails, RunRecord

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

MOST_RUNS: Final = 40


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One result with a verdict. `checks` are the fingerprints of what its steps complained about."""

    run: str
    model: str
    provider: str
    attempt: str
    eval: str
    trial: int
    passed: bool
    files: str | None  # the artifact
    checks: frozenset[str] = frozenset()

    @property
    def is_built_in(self) -> bool:
        return self.provider == BUILT_IN


def read_neighbours(store: "ScoresStore", run: RunRecord, evals: Collection[str]) -> tuple[Neighbour, ...]:
    """From this run and the newest others, newest first."""
    others = [each for each in store.runs() if each.id != run.id][:MOST_RUNS]
    return tuple(
        neighbour(each, details)
        for each in (run, *others)
        for details in store.details(each.id)
        if details.attempt.eval in evals and details.attempt.status in ("passed", "failed")
    )


def neighbour(run: RunRecord, details: AttemptDetails) -> Neighbour:
    attempt, generation = details.attempt, details.generation
    return Neighbour(
        run.id,
        run.model,
        run.provider,
        attempt.id,
        attempt.eval,
        attempt.trial,
        attempt.status == "passed",
        generation.files if generation else None,
        frozenset(each.fingerprint for step in details.steps if step.status == "failed" for each in step.diagnostics),
    )
