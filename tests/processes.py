"""Processes that may end while a test looks at them: psutil answers that with an error, these functions do not."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; one of which only the exit code is left does not."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def command(process: psutil.Process) -> list[str]:
    """Its program and arguments; nothing of one that has ended, or that belongs to someone else."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def program(process: psutil.Process) -> str:
    """The path of what it executes; nothing of one that has ended, or that belongs to someone else."""
    with suppress(psutil.Error):
        return process.exe()
    return ""


def parent(process: psutil.Process) -> psutil.Process | None:
    with suppress(psutil.Error):
        return process.parent()
    return None


def works_below(process: psutil.Process, folder: Path) -> bool:
    with suppress(psutil.Error):
        return Path(process.cwd()).is_relative_to(folder)
    return False


def below_this_one(fits: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if fits(child)]


def of_this_machine(fits: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if fits(process)]
