"""How progress looks: on a terminal a table that moves, elsewhere a line for every eval that is done."""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from convex_evals.cli.characters import drawn
from convex_evals.cli.output import remark, visible
from convex_evals.cli.progress.board import Board, Row, running_steps
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import STEPS, Status, StepName
from convex_evals.runner import Event, Finished, Halted, Notice, Retrying, StepFinished, Stopping, Watcher, WorkItem
from convex_evals.scores import Outcome

if TYPE_CHECKING:
    from rich.text import Text

SIGNS: Final[Mapping[Status, tuple[str, str]]] = {
    "passed": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "skipped": ("–", "dim"),
    "infrastructure": ("!", "bold yellow"),
}
RUNNING: Final = ("…", "cyan")
SHORT_STEPS: Final[Mapping[StepName, str]] = {step: step[:4] for step in STEPS} | {"eslint": "lint"}
_SHARED: Final = "steps".ljust(len(STEPS))
"""The heading of one column with all signs."""
_GAP: Final = "  "
_SHORTEST_LABEL: Final = 12
_WIDE = 10_000
_REFRESHES_PER_SECOND: Final = 4
_LINES_KEPT: Final = 4  # for heading, summary and the prompt


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of items: model, experiment and trial are said only when there is more than one of them.

    Where the screen is narrow, the headings of the steps are shortened, then all steps share one column (`steps` is
    None), before a name is cut.
    """

    with_model: bool
    with_experiment: bool
    with_trial: bool
    width: int = 0
    with_category: bool = True
    with_provider: bool = True
    steps: Mapping[StepName, str] | None = field(default_factory=lambda: {step: step for step in STEPS})

    @classmethod
    def of(cls, items: Iterable[WorkItem], screen_width: int) -> "Labels":
        items = list(items)
        several_models = len({item.model for item in items}) > 1
        with_experiment = len({item.experiment for item in items}) > 1
        with_model = several_models or (len({item.run for item in items}) > 1 and not with_experiment)
        with_trial = len({item.trial for item in items}) > 1
        made = cls(with_model, with_experiment, with_trial)
        smaller = (
            made,
            replace(made, steps=SHORT_STEPS),
            replace(made, steps=None),
            replace(made, steps=None, with_category=False),
            replace(made, steps=None, with_category=False, with_provider=False),
        )
        for each in smaller:
            longest = max((len(each.full(item)) for item in items), default=0)
            room = screen_width - sum(len(_GAP) + len(heading) for heading in each.headings)
            if longest <= room:
                return replace(each, width=longest)
        return replace(each, width=max(_SHORTEST_LABEL, room))

    @property
    def headings(self) -> Sequence[str]:
        return [_SHARED] if self.steps is None else list(self.steps.values())

    def label(self, item: WorkItem) -> str:
        label = self.full(item)
        short = label if len(label) <= self.width else f"…{label[-self.width + 1 :]}"
        return short.ljust(self.width)

    def full(self, item: WorkItem) -> str:
        """However long it is."""
        model = item.model if self.with_provider else item.model.rpartition("/")[2]
        named = [model] if self.with_model else []
        named += [item.experiment] if self.with_experiment else []
        name = item.eval.id if self.with_category else item.eval.name
        return " · ".join([*named, f"{name}{f' #{item.trial}' if self.with_trial else ''}"])


def halted(model: str, reason: str) -> str:
    """What is said when no more of a run is begun."""
    return f"{visible(reason)} Nothing more is asked of {model}; the rest of its run can be resumed."


def heading(labels: Labels) -> "Text":
    from rich.text import Text

    return Text(_GAP.join(["eval".ljust(labels.width), *labels.headings]), style="bold")


def line(
    labels: Labels,
    item: WorkItem,
    steps: Mapping[StepName, Status],
    running: Collection[StepName] = (),
    remark: str = "",
) -> "Text":
    from rich.text import Text

    text = Text(labels.label(item), no_wrap=True, overflow="ellipsis")
    if remark and not steps:  # nothing is done, so what is said takes the place of the signs
        return text.append(f"{_GAP}{remark}", style="dim")
    text.append(_GAP if labels.steps is None else "")
    for step in STEPS:
        status = steps.get(step)
        sign, style = SIGNS[status] if status else RUNNING if step in running else ("", "")
        gap, width = ("", 1) if labels.steps is None else (_GAP, len(labels.steps[step]))
        text.append(gap).append(drawn(sign, sys.stderr).ljust(width)[:width], style=style)
    return text.append(f"{_GAP}{remark}", style="dim") if remark else text


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
                self._say(f"retrying  {self._label(item)}  {visible(reason)}")
            case Finished(item, outcome):
                self._say(self._finished(item, outcome))
            case Halted(_, model, reason):
                self._say(halted(model, reason))
            case Notice(text):
                self._say(visible(text))
            case Stopping():
                self._say(f"Stopping: {self._board.summary()}")

    def _note(self, item: WorkItem, step: StepResult) -> None:
        if step.excerpt:
            self._excerpts.setdefault(item, {})[step.name] = step.cause

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
        self._board.take(event)
        match event:
            case StepFinished(item, step):
                self._steps.setdefault(item, {})[step.name] = step.status
            case Retrying(item, reason):
                self._steps.pop(item, None)
                self._console.print(Text(f"{self._labels.label(item)}  retrying: {reason}", style="yellow"))
            case Finished(item, outcome):
                remark = "without verdict" if outcome.status == "infrastructure" else ""
                self._live.refresh()  # printing repeats what was drawn last below the line, this row included
                self._console.print(line(self._labels, item, self._steps.pop(item, {}), remark=remark))
            case Halted(_, model, reason):
                self._console.print(Text(halted(model, reason), style="red"))
            case Notice(text):
                self._console.print(Text(visible(text), style="yellow"))

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
        return line(self._labels, item, dict(row.steps), running_steps(item, row), remark)


@contextmanager
def watching(items: Sequence[WorkItem]) -> Iterator[Watcher]:
    """Shows progress on standard error, so that standard output stays for results."""
    board = Board(total=len(items))
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield ProgressLines(items, board, remark)
        return
    with LiveTable(items, board, console) as table:
        yield table
