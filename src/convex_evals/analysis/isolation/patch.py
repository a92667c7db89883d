"""One difference between an answer and the reference that can be applied by itself."""

from dataclasses import dataclass

from convex_evals.analysis.evidence import Hunk
from convex_evals.analysis.isolation.units import Unit


@dataclass(frozen=True, slots=True)
class Patch:
    """Takes one unit of one file from the reference; None means that a side does not have it."""

    file: str
    key: str
    model: Unit | None
    expected: Unit | None

    @property
    def hunk(self) -> Hunk:
        model, expected = (unit.text.strip("\n") if unit else "" for unit in (self.model, self.expected))
        return Hunk(self.file, model, expected, self.model.line if self.model else 0, self.key)

    def covers(self, line: int) -> bool:
        """Whether a line of the model's file belongs to it."""
        if self.model is None:
            return False
        return self.model.line <= line <= self.model.line + self.model.text.strip("\n").count("\n")
