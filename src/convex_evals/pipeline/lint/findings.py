"""What a linter found, and what it means that it did not do its work."""

from collections.abc import Iterable
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, Place, finding
from convex_evals.core.processes import ProcessResult

_QUOTED: Final = 15


class LintAccident(Exception):
    """A linter did not do its work. `kind` is a key of the table of failures; without a message, its ending says it."""

    def __init__(self, kind: str, result: ProcessResult, message: str = "") -> None:
        super().__init__(message)
        self.kind, self.result = kind, result


def found_at(tool: str, file: str, line: int | None, column: int | None, rule: str, message: str) -> Diagnostic:
    """Linters count from 1; 0 is a finding about the file as a whole."""
    return finding(tool, rule, message, Place(file, line or 0, column or 0))


def in_order(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(findings, key=lambda each: (each.file, each.line, each.column, each.name, each.message))


def line_of(each: Diagnostic) -> str:
    return f"{each.file}:{each.line}:{each.column} {each.name}: {each.message.partition(chr(10))[0]}"


def excerpt_of(findings: list[Diagnostic]) -> str:
    lines = [line_of(each) for each in findings[:_QUOTED]]
    if len(findings) > _QUOTED:
        lines.append(f"… and {len(findings) - _QUOTED} more")
    return "\n".join(lines)
