"""A chart with the numbers that it shows."""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Chart:
    """`headings` and `rows` are the table of the same numbers, for those who cannot or do not want to see it."""

    title: str
    svg: Markup
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def percent(share: float) -> str:
    return f"{share:.1%}"


def between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{percent(low)} to {percent(high)}"
