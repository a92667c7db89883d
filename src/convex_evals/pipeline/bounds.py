"""How much a grading may write and say. Larger than anything honest; what is beyond is cut, and the cut is told."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from convex_evals.pipeline.types import Command, StepResult

MEBIBYTE: Final = 1024 * 1024
LOG_BYTES: Final = 16 * MEBIBYTE
"""A step's log is complete up to this size; of a longer one the beginning and the end are kept."""

EXCERPT_CHARACTERS: Final = 32_768
NOTE_CHARACTERS: Final = 4_096
MOST_NOTES: Final = 100
MOST_COMMANDS: Final = 100
ARGUMENT_CHARACTERS: Final = 4_096
MOST_ARGUMENTS: Final = 200

MOST_BYTES: Final = 512 * MEBIBYTE
MOST_FILES: Final = 50_000
"""What the folder of one grading may hold. Installed packages are elsewhere."""


@dataclass(frozen=True, slots=True)
class DiskUsage:
    bytes: int
    files: int


def usage_of(folder: Path) -> DiskUsage:
    """Of everything below a folder, up to more files than there may be. Links are not followed."""
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
            if error.errno == errno.ENAMETOOLONG:  # nothing honest is nested so deep
                return DiskUsage(size, MOST_FILES + 1)
    return DiskUsage(size, files)


def bounded(step: StepResult) -> StepResult:
    """The result with its log cut on disk, and texts that fit into a message."""
    cut_log(step.log)
    return replace(
        step,
        excerpt=cut_text(step.excerpt, EXCERPT_CHARACTERS),
        notes=tuple(cut_text(note, NOTE_CHARACTERS) for note in step.notes[:MOST_NOTES]),
        commands=tuple(_bounded_command(command) for command in step.commands[:MOST_COMMANDS]),
    )


def cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n… {len(text) - most:,} characters left out"


def cut_log(path: Path, most: int = LOG_BYTES) -> None:
    """Shortens a file to about `most` bytes: a sentence stands for what was between its beginning and its end."""
    with path.open("r+b") as log:
        size = log.seek(0, os.SEEK_END)
        if size <= most:
            return
        half = most // 2
        log.seek(size - half)
        end = log.read(half)
        log.seek(half)
        log.truncate()
        _write_gap(log, size - 2 * half, most)
        log.write(end)


def _write_gap(log: BinaryIO, left_out: int, most: int) -> None:
    log.write(f"\n… {left_out:,} bytes left out: a log is kept up to {most / MEBIBYTE:g} MiB …\n".encode())


def _bounded_command(command: Command) -> Command:
    return replace(command, arguments=_bounded_arguments(command.arguments))


def _bounded_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    return tuple(cut_text(argument, ARGUMENT_CHARACTERS) for argument in arguments[:MOST_ARGUMENTS])
