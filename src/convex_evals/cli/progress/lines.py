"""Where there is no terminal: a line for every eval that is done, for every retry, and for Ctrl-C."""

from collections.abc import Callable, Sequence

from convex_evals.cli.output import visible
from convex_evals.cli.progress.board import Board
from convex_evals.cli.progress.cells import Labels, halted
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import STEPS
from convex_evals.runner import Event, Finished, Halted, Retrying, StepFinished, Stopping, WorkItem
from convex_evals.scores import Outcome

_WIDE = 10_000


class ProgressLines:
    """Call with every event."""

    def __init__(self, items: Sequence[WorkItem], board: Board, say: Callable[[str], None]) -> None:
        self._board, self._say = board, say
        self._labels = Labels.of(items, _WIDE)
        self._excerpts: dict[WorkItem, dict[str, str]] = {}

    def __call__(self, event: Event) -> None:
        self._board.take(event)
        match event:
            case StepFinished(item, step):
                self._note(item, step)
            case Retrying(item, reason):
                self._excerpts.pop(item, None)
                self._say(f"tried again  {self._label(item)}  {visible(reason)}")
            case Finished(item, outcome):
                self._say(self._finished(item, outcome))
            case Halted(_, model, reason):
                self._say(halted(model, reason))
            case Stopping():
                self._say(f"Stopping: {self._board.summary()}")

    def _note(self, item: WorkItem, step: StepResult) -> None:
        if step.excerpt:
            self._excerpts.setdefault(item, {})[step.name] = step.excerpt

    def _finished(self, item: WorkItem, outcome: Outcome) -> str:
        reason = why(outcome, self._excerpts.pop(item, {}))
        progress = f"{self._board.done}/{self._board.total}"
        return "  ".join(part for part in (progress, outcome.status, self._label(item), reason) if part)

    def _label(self, item: WorkItem) -> str:
        return self._labels.label(item).rstrip()


def why(outcome: Outcome, excerpts: dict[str, str]) -> str:
    """The step that decided and the first line of what it said."""
    if outcome.status == "passed":
        return ""
    step = outcome.failed_step or next((name for name in STEPS if name in excerpts), None)
    said = outcome.broken or excerpts.get(step or "") or "; ".join(outcome.notes) or outcome.failure or ""
    first = next((text for text in said.splitlines() if text.strip()), "")
    return visible(f"{step}: {first}" if step else first)
