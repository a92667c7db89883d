"""Collects the log lines of one execution, in order, up to the number that is shown."""

from collections.abc import Iterable
from typing import Final

from convex_evals.backend.runtime.types import LogLine

MAX_LINES: Final = 256
MAX_NODE_CHARACTERS: Final = 1_048_576
OVERFLOW: Final = f"Log overflow (maximum {MAX_LINES}). Remaining log lines omitted."
NODE_OVERFLOW: Final = "Log overflow (maximum 1M characters). Remaining log lines omitted."


class LogLines:
    def __init__(self, max_characters: int | None = None) -> None:
        self.lines: list[LogLine] = []
        self._is_full = False
        self._characters = 0
        self._max_characters = max_characters

    def add_kept(self, lines: Iterable[LogLine]) -> list[LogLine]:
        """Returns the lines that were kept."""
        before = len(self.lines)
        self.add(lines)
        return self.lines[before:]

    def add(self, lines: Iterable[LogLine]) -> None:
        for line in lines:
            self._add(line)

    def _add(self, line: LogLine) -> None:
        if self._is_full:
            return
        self._characters += sum(map(len, line.messages))
        if self._max_characters is not None and self._characters > self._max_characters:
            self._end(line, NODE_OVERFLOW)
        elif len(self.lines) == MAX_LINES - 1:
            self._end(line, OVERFLOW)
        else:
            self.lines.append(line)

    def _end(self, line: LogLine, text: str) -> None:
        self._is_full = True
        self.lines.append(LogLine("ERROR", (text,), line.timestamp_ms))
