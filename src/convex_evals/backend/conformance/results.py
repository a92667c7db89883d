"""What a conformance run found, as JSON and as the page `docs/conformance.md`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from convex_evals.backend.conformance.checklist import SECTIONS, Check

Status = Literal["passed", "failed", "unsupported"]


@dataclass(frozen=True, slots=True)
class ItemResult:
    check: Check
    status: Status
    detail: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "number": self.check.number,
            "priority": "P1" if self.check.p1 else None,
            "behaviour": self.check.behaviour,
            "status": self.status,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Results:
    target: str
    items: Sequence[ItemResult]

    def count(self, status: Status, *, p1_only: bool = False) -> int:
        return sum(item.status == status and (item.check.p1 or not p1_only) for item in self.items)

    def to_json(self) -> dict[str, object]:
        return {"target": self.target, "items": [item.to_json() for item in self.items]}

    def to_markdown(self) -> str:
        """The page `docs/conformance.md`: no dates and no timings, so that equal results give an equal page."""
        lines = [
            "# Conformance",
            "",
            "Made by `convex-evals conformance --markdown docs/conformance.md`; a test keeps it true.",
            "Each line is one observable behaviour of Convex and whether the embedded deployment shows it.",
            "",
            f"{self.count('passed')} of {len(self.items)} passed; of the P1 items "
            f"{self.count('passed', p1_only=True)} of {sum(item.check.p1 for item in self.items)}.",
        ]
        for letter, title in SECTIONS.items():
            section = [item for item in self.items if item.check.section == letter]
            if section:
                lines += ["", f"## {letter}. {title}", "", "| | | behaviour | status |", "| ---: | --- | --- | --- |"]
                lines += [_row(item) for item in section]
        return "\n".join(lines) + "\n"


def _row(item: ItemResult) -> str:
    behaviour = item.check.behaviour.replace("|", "\\|").replace("\n", " ")
    return f"| {item.check.number} | {'P1' if item.check.p1 else ''} | {behaviour} | {item.status} |"
