"""How an answer differs from the reference answer, and what it uses that does not exist."""

from dataclasses import dataclass
from typing import Literal

Aspect = Literal[
    "file",
    "export",
    "function kind",
    "arguments",
    "returns",
    "table",
    "field",
    "index",
    "import",
    "directive",
    "dependency",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """`place` is a file or a table; None on one side means that it has no such thing."""

    aspect: Aspect
    place: str
    name: str
    expected: str | None
    received: str | None

    def __str__(self) -> str:
        what = f"{self.aspect} {self.name}" if self.name else self.aspect
        return f"{what} in {self.place}: expected {self.expected or 'none'}, received {self.received or 'none'}"


@dataclass(frozen=True, slots=True)
class UnknownSymbol:
    """`owner` has no `name`: `v` has no `tuple`, "./_generated/server" exports no `paginationOptsValidator`."""

    name: str
    owner: str
    file: str = ""
    line: int = 0
    known_in: str | None = None  # the module that does have it
    suggestion: str | None = None  # what the owner has that is spelled nearly so

    def __str__(self) -> str:
        there = f"; {self.known_in} has it" if self.known_in else ""
        near = f" (but {self.suggestion})" if self.suggestion and not self.known_in else ""
        return f"{self.owner} has no {self.name}{there}{near}"
