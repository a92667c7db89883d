"""The smallest change that makes a failing answer pass the step it failed, or why it is not known."""

from dataclasses import dataclass
from typing import Literal

Found = Literal["isolated", "located", "stated", "unknown"]
"""How a cause was found.

- isolated: by delta debugging; applying these hunks of the reference turned the failing step green
- located: the differences that lie next to what the tools complain about; nothing was tried
- stated: somebody wrote the snippets down, as in a labelled case
- unknown: there is nothing to show
"""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One piece of one file. An empty side means that there is no such piece there."""

    file: str
    model: str
    expected: str
    line: int = 0  # where the piece begins in the model's file; 0 when it has none
    name: str = ""  # of the declaration it belongs to


@dataclass(frozen=True, slots=True)
class Cause:
    """`note` says how it was found, or why nothing was."""

    found: Found = "unknown"
    model_snippet: str = ""
    expected_snippet: str = ""
    hunks: tuple[Hunk, ...] = ()
    note: str = ""
    minimal: bool = False  # no smaller set of these hunks is enough
    tries: int = 0
    seconds: float = 0.0
