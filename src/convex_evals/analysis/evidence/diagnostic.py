"""One thing that a tool said about an answer."""

from dataclasses import dataclass
from typing import Literal

DiagnosticKind = Literal["filesystem", "install", "deploy", "type", "lint", "test"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`name` is what the kind of mistake is called: TS2339, a lint rule, a test, or the code of a deploy error."""

    kind: DiagnosticKind
    message: str
    name: str | None = None
    file: str | None = None
    line: int | None = None
    expected: str | None = None
    received: str | None = None
    assertion: str | None = None  # the line of the grader that was not satisfied
    fingerprint: str = ""
    """The same for the same mistake, whatever the paths, line numbers and ids in its message."""

    @property
    def place(self) -> str:
        """`convex/index.ts:12`, as far as it is known."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or ""
