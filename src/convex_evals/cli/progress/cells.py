"""How an eval and its steps look in one line; the same while it is under way and when it is done."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from convex_evals.cli.output import visible
from convex_evals.core.verdicts import STEPS, Status, StepName
from convex_evals.runner import WorkItem

if TYPE_CHECKING:
    from rich.text import Text

SIGNS: Final[Mapping[Status, tuple[str, str]]] = {
    "passed": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "skipped": ("–", "dim"),
    "infrastructure": ("!", "bold yellow"),
}
RUNNING: Final = ("…", "cyan")
_GAP: Final = "  "
_SHORTEST_LABEL: Final = 12


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of items: model, experiment and trial are said only when there is more than one of them."""

    with_model: bool
    with_experiment: bool
    with_trial: bool
    width: int

    @classmethod
    def of(cls, items: Iterable[WorkItem], screen_width: int) -> "Labels":
        items = list(items)
        several_models = len({item.model for item in items}) > 1
        with_experiment = len({item.experiment for item in items}) > 1
        with_model = several_models or (len({item.run for item in items}) > 1 and not with_experiment)
        with_trial = len({item.trial for item in items}) > 1
        made = cls(with_model, with_experiment, with_trial, 0)
        longest = max((len(made.full(item)) for item in items), default=0)
        steps = sum(len(_GAP) + len(step) for step in STEPS)
        room = screen_width - steps - len(_GAP) - len("without verdict")
        return replace(made, width=max(_SHORTEST_LABEL, min(longest, room)))

    def label(self, item: WorkItem) -> str:
        label = self.full(item)
        short = label if len(label) <= self.width else f"…{label[-self.width + 1 :]}"
        return short.ljust(self.width)

    def full(self, item: WorkItem) -> str:
        """However long it is."""
        named = [item.model] if self.with_model else []
        named += [item.experiment] if self.with_experiment else []
        return " · ".join([*named, f"{item.eval.id}{f' #{item.trial}' if self.with_trial else ''}"])


def halted(model: str, reason: str) -> str:
    """What is said when no more of a run is begun."""
    return f"{visible(reason)} Nothing more is asked of {model}; the rest of its run can be resumed."


def heading(labels: Labels) -> "Text":
    from rich.text import Text

    return Text(_GAP.join(["eval".ljust(labels.width), *STEPS]), style="bold")


def line(label: str, steps: Mapping[StepName, Status], running: Collection[StepName] = (), remark: str = "") -> "Text":
    from rich.text import Text

    text = Text(label, no_wrap=True, overflow="crop")
    for step in STEPS:
        status = steps.get(step)
        sign, style = SIGNS[status] if status else RUNNING if step in running else ("", "")
        text.append(_GAP).append(sign.ljust(len(step)), style=style)
    return text.append(f"{_GAP}{remark}", style="dim") if remark else text
