"""What to type after the demo, with the ids of what it has just made."""

from collections.abc import Iterator
from dataclasses import dataclass

from convex_evals.cli.main import PROGRAM
from convex_evals.core.ids import prefix
from convex_evals.scores import AttemptDetails, RunFilter, RunRecord, ScoresStore


@dataclass(frozen=True, slots=True)
class NextCommand:
    arguments: str
    purpose: str

    @property
    def line(self) -> str:
        return f"{PROGRAM} {self.arguments}"


def next_commands(store: ScoresStore, run: RunRecord, failed: tuple[AttemptDetails, ...]) -> Iterator[NextCommand]:
    """In the order in which one would want to know."""
    this = prefix(run.id)
    yield NextCommand(f"show {this}", "every eval and every step of this run")
    if failed:
        name = failed[0].attempt.eval
        yield NextCommand(f"show {this} {name}", "one failure: what each step said, and the files")
        yield NextCommand("status --failed", "what failed in the last run of each model, and why")
        yield NextCommand(f"analyze {this}", "the same report, with the cause of each failure found by trial")
    earlier = _run_before(store, run)
    if earlier is not None:
        yield NextCommand(f"compare {prefix(earlier.id)} {this}", "what changed since the run before")
    elif failed:
        name = failed[0].attempt.eval
        yield NextCommand(f"run -m reference --name {name}", "the reference answer to it, graded in the same way")
        yield NextCommand(f"compare {this} RUN", "two runs side by side; RUN is the id of the other one")
    yield NextCommand("run -m MODEL", "a model of your own: an API with a key, or replay:FOLDER with its answers")


def _run_before(store: ScoresStore, run: RunRecord) -> RunRecord | None:
    """The newest other run of the same model."""
    others = store.runs(RunFilter(model=run.model, experiment=run.experiment))
    return next((other for other in others if other.id != run.id and other.counts.passed), None)
