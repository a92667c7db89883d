"""Something that was done about failures after a report."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """`evals` are the failures it is meant to cure; empty: all of the report."""

    text: str
    date: str  # YYYY-MM-DD
    author: str = ""
    evals: tuple[str, ...] = ()
