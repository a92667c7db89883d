"""How much a grading may write and print, and which characters it may use. The limits are larger than any honest answer
needs; what exceeds them is cut, and the result says so.
"""

import errno
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.steps import Command, StepResult

LOG_BYTES: Final = 16 * MEBIBYTE
"""A step's log is complete up to this size; of a longer one the beginning and the end are kept."""

EXCERPT_CHARACTERS: Final = 32_768
NOTE_CHARACTERS: Final = 4_096
MOST_NOTES: Final = 100
MOST_DIAGNOSTICS: Final = 1_000
MOST_TESTS: Final = 2_000
MESSAGE_CHARACTERS: Final = 8_192
NAME_CHARACTERS: Final = 1_024
MOST_COMMANDS: Final = 100
ARGUMENT_CHARACTERS: Final = 4_096
MOST_ARGUMENTS: Final = 200

MOST_BYTES: Final = 512 * MEBIBYTE
MOST_FILES: Final = 50_000
"""What the folder of one grading may hold. Installed packages are elsewhere."""

LONGEST_LINE: Final = 600
MOST_LINES: Final = 200
LONGEST_TEXT: Final = 12_000
# Control characters (C0 and C1) except tab and newline, bidirectional and invisible marks, and lone surrogates.
_ACTING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*+[A-Za-z]")


@dataclass(frozen=True, slots=True)
class DiskUsage:
    bytes: int
    files: int


def usage_of(folder: Path) -> DiskUsage:
    """Of everything below a folder. Counting stops once there are too many files; links are not followed."""
    size = files = 0
    waiting = [str(folder)]
    while waiting and files <= MOST_FILES:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # no honest project is nested so deeply
                return DiskUsage(size, MOST_FILES + 1)
    return DiskUsage(size, files)


def bounded(step: StepResult) -> StepResult:
    """The result with its log cut on disk, and texts that fit into a message."""
    if step.log is not None:
        cut_log(step.log)
    return replace(
        step,
        excerpt=cut_text(step.excerpt, EXCERPT_CHARACTERS),
        notes=tuple(cut_text(note, NOTE_CHARACTERS) for note in step.notes[:MOST_NOTES]),
        commands=tuple(_bounded_command(command) for command in step.commands[:MOST_COMMANDS]),
        diagnostics=tuple(_bounded_diagnostic(diagnostic) for diagnostic in step.diagnostics[:MOST_DIAGNOSTICS]),
        test_results=tuple(_bounded_test(test) for test in step.test_results[:MOST_TESTS]),
    )


def cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n… {len(text) - most:,} characters left out"


def cut_log(path: Path, most: int = LOG_BYTES) -> None:
    """Shortens a file to about `most` bytes: a sentence replaces what was between its beginning and its end."""
    with path.open("r+b") as log:
        size = log.seek(0, os.SEEK_END)
        if size <= most:
            return
        half = most // 2
        log.seek(size - half)
        end = log.read(half)
        log.seek(half)
        log.truncate()
        log.write(f"\n… {size - 2 * half:,} bytes left out: a log is kept up to {most / MEBIBYTE:g} MiB …\n".encode())
        log.write(end)


def _bounded_command(command: Command) -> Command:
    shown = (cut_text(argument, ARGUMENT_CHARACTERS) for argument in command.arguments[:MOST_ARGUMENTS])
    return replace(command, arguments=tuple(shown))


def _bounded_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
    return replace(
        diagnostic,
        message=cut_text(diagnostic.message, MESSAGE_CHARACTERS),
        name=_cut_optional(diagnostic.name, NAME_CHARACTERS),
        file=_cut_optional(diagnostic.file, NAME_CHARACTERS),
        expected=_cut_optional(diagnostic.expected, MESSAGE_CHARACTERS),
        received=_cut_optional(diagnostic.received, MESSAGE_CHARACTERS),
        assertion=_cut_optional(diagnostic.assertion, MESSAGE_CHARACTERS),
    )


def _bounded_test(test: TestResult) -> TestResult:
    return replace(
        test,
        name=cut_text(test.name, NAME_CHARACTERS),
        message=cut_text(test.message, MESSAGE_CHARACTERS),
        expected=_cut_optional(test.expected, MESSAGE_CHARACTERS),
        received=_cut_optional(test.received, MESSAGE_CHARACTERS),
        assertion=_cut_optional(test.assertion, MESSAGE_CHARACTERS),
    )


def _cut_optional(text: str | None, most: int) -> str | None:
    return None if text is None else cut_text(text, most)


def readable(text: str) -> str:
    """What reports quote of a text that a model may have influenced: short, and without control characters.

    Colours are dropped, other control characters spelled out, long lines and long texts cut.
    """
    lines = text.split("\n", MOST_LINES)
    shown = "\n".join(_readable_line(line) for line in lines[:MOST_LINES])
    cut = len(lines) > MOST_LINES or len(shown) > LONGEST_TEXT
    return f"{shown[:LONGEST_TEXT]}\n… (complete in the log)" if cut else shown


def _readable_line(line: str) -> str:
    plain = _ESCAPES.sub("", line[: 4 * LONGEST_LINE]).rstrip("\r")
    shown = _ACTING.sub(lambda match: ascii(match[0])[1:-1], plain[:LONGEST_LINE])
    return f"{shown}… ({len(line)} characters)" if len(plain) > LONGEST_LINE else shown
