"""On a terminal: what is done stays as lines of a table, what is under way moves below them."""

from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from convex_evals.cli.progress.board import Board, Row, running_steps
from convex_evals.cli.progress.cells import Labels, halted, heading, line
from convex_evals.core.verdicts import Status, StepName
from convex_evals.runner import Event, Finished, Halted, Retrying, StepFinished, WorkItem

_REFRESHES_PER_SECOND: Final = 4
_LINES_KEPT: Final = 4  # for heading, summary and the prompt


class LiveTable:
    """Use as a context; call with every event."""

    def __init__(self, items: Sequence[WorkItem], board: Board, console: Console) -> None:
        self._board, self._console = board, console
        self._labels = Labels.of(items, console.width)
        self._steps: dict[WorkItem, dict[StepName, Status]] = {}
        self._live = Live(
            get_renderable=self._render,
            console=console,
            refresh_per_second=_REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __call__(self, event: Event) -> None:
        match event:
            case StepFinished(item, step):
                self._steps.setdefault(item, {})[step.name] = step.status
            case Retrying(item, reason):
                self._steps.pop(item, None)
                self._console.print(Text(f"{self._labels.label(item)}  tried again: {reason}", style="yellow"))
            case Finished(item, outcome):
                remark = "without verdict" if outcome.status == "infrastructure" else ""
                self._console.print(line(self._labels.label(item), self._steps.pop(item, {}), remark=remark))
            case Halted(_, model, reason):
                self._console.print(Text(halted(model, reason), style="red"))
        self._board.take(event)

    def __enter__(self) -> Self:
        self._console.print(heading(self._labels))
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _render(self) -> RenderableType:
        # Drawn by Rich's own thread, so it looks at a copy.
        rows = [(item, row) for item, row in list(self._board.rows.items()) if row.phase != "waiting"]
        room = max(1, self._console.height - _LINES_KEPT)
        more = [Text(f"… {len(rows) - room} more", style="dim")] if len(rows) > room else []
        return Group(*(self._line(item, row) for item, row in rows[:room]), *more, Text(self._board.summary()))

    def _line(self, item: WorkItem, row: Row) -> Text:
        remark = "" if row.phase == "grading" else row.phase
        return line(self._labels.label(item), dict(row.steps), running_steps(item, row), remark)
