"""What is wrong with an eval or a suite, where, and what to do about it."""

from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.errors import SuiteError


@dataclass(frozen=True)
class Problem:
    path: Path
    found: str
    fix: str

    def __str__(self) -> str:
        return f"{printable(str(self.path))}: {self.found}; {self.fix}."


def printable(text: str) -> str:
    """The text with control characters shown, not obeyed: file names come from strangers."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


class BrokenError(SuiteError):
    """Stops the loading of one eval, never of the others."""

    def __init__(self, path: Path, found: str, fix: str) -> None:
        self.problem = Problem(path, found, fix)
        super().__init__(str(self.problem))
