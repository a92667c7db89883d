"""Mutants that are known to behave like the answer: `equivalent.txt` beside the controls of an eval.

# A comment.
3fa9c1d2 A user has at most one profile, so the order does not matter.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.suite import Problem, read_text

FILE_NAME: Final = "equivalent.txt"
_ENTRY: Final = re.compile(r"([0-9a-f]{8})\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Equivalents:
    """The reasons by the ids of mutants."""

    path: Path
    reasons: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_equivalents(path: Path) -> Equivalents:
    """What the file says; a missing one says nothing."""
    reasons: dict[str, str] = {}
    problems: list[Problem] = []
    for number, line in enumerate(read_text(path).splitlines() if path.is_file() else [], start=1):
        entry = _ENTRY.fullmatch(line.strip())
        if entry is not None and entry[1] not in reasons:
            reasons[entry[1]] = entry[2]
        elif line.strip() and not line.startswith("#"):
            fix = "write the id of a mutant, once, and one sentence why it is equivalent"
            problems.append(Problem(path, f"line {number} is {line.strip()!r}", fix))
    return Equivalents(path, reasons, tuple(problems))
