"""What a linter found."""

from dataclasses import dataclass
from typing import Final

from convex_evals.core.processes import ProcessResult

_QUOTED: Final = 15


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    file: str
    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.rule}: {self.message.partition(chr(10))[0]}"


def excerpt_of(findings: list[Finding]) -> str:
    lines = [str(finding) for finding in sorted(findings)[:_QUOTED]]
    if len(findings) > _QUOTED:
        lines.append(f"… and {len(findings) - _QUOTED} more")
    return "\n".join(lines)


class LintAccident(Exception):
    """A linter did not do its work. `kind` is a key of the table of failures; without a message, its ending says it."""

    def __init__(self, kind: str, result: ProcessResult, message: str = "") -> None:
        super().__init__(message)
        self.kind, self.result = kind, result
