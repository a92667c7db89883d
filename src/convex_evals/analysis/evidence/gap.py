"""What GAPS.txt says about a failure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GapMatch:
    """The passage of GAPS.txt that speaks of the cause, and the words it shares with it. `score` is from 0 to 1."""

    passage: str
    terms: tuple[str, ...]
    score: float
