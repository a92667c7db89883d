"""How pages write numbers, times and statuses. What is not known is never shown as 0."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup

from convex_evals import runner
from convex_evals.core.text import count

UNKNOWN: Final = "unknown"


class Sign(NamedTuple):
    """A status is an icon, a word and a colour; the stylesheet has a colour of the same name as `tone`."""

    icon: str
    word: str
    tone: str


SIGNS: Final = {
    "passed": Sign("✓", "passed", "passed"),
    "failed": Sign("✗", "failed", "failed"),
    "skipped": Sign("–", "skipped", "skipped"),
    "infrastructure": Sign("!", "infrastructure", "infrastructure"),
    "running": Sign("●", "running", "running"),
    "interrupted": Sign("–", "interrupted", "skipped"),
    "pending": Sign("·", "not begun", "skipped"),
    "completed": Sign("✓", "completed", "skipped"),
    "stopped": Sign("–", "interrupted", "infrastructure"),
    "died": Sign("–", "interrupted", "infrastructure"),
    "flaky": Sign("≈", "flaky", "infrastructure"),
    "unseen": Sign("–", "not seen", "skipped"),
    "broken": Sign("!", "broken", "infrastructure"),
    "hangs": Sign("!", "hangs", "infrastructure"),
    "lost": Sign("!", "lost", "infrastructure"),
    "crashed": Sign("!", "crashed", "infrastructure"),
}


def sign(status: str) -> Sign:
    return SIGNS.get(status, Sign("·", status, "skipped"))


@lru_cache(maxsize=256)
def mark(status: str, step: str = "") -> Markup:
    """The icon alone, for narrow cells, with words for screen readers. Cached: a run has hundreds of them."""
    found = sign(status)
    icon = Markup('<span class="icon" aria-hidden="true">{}</span>').format(found.icon)
    word = f"{step} {found.word}".strip()
    hidden = Markup('<span class="visually-hidden">{}</span>').format(word)
    return Markup('<span class="tone-{}" title="{}">{}{}</span>').format(found.tone, word, icon, hidden)


def percent(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value * 100:.{digits}f}%"


def dollars(amount: float | None) -> str:
    return UNKNOWN if amount is None else runner.dollars(amount)


def number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def p_value(value: float, equals: str = "") -> str:
    """`0.041`, and `< 0.0001` for everything below."""
    return "< 0.0001" if value < 0.0001 else f"{equals}{value:.2g}"


def tokens(value: float | None) -> str:
    """`812`, `12.3k`, `4.56M`: for a cell."""
    if value is None:
        return UNKNOWN
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.0f}"


def milliseconds(value: float | None) -> str:
    return UNKNOWN if value is None else duration(value / 1000)


def duration(seconds: float | timedelta | None) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds is None:
        return UNKNOWN
    total = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
    if total < 10:
        return f"{total:.1f} s"
    minutes, rest = divmod(round(total), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left:02} min" if hours else f"{minutes} min {rest:02} s"


def moment(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def ago(when: datetime, now: datetime | None = None) -> str:
    """`just now`, `5 minutes ago`, `3 days ago`; after a month the day itself."""
    passed = (now or datetime.now(UTC)) - when
    minutes = int(passed.total_seconds() // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{count(minutes, 'minute')} ago"
    if minutes < 60 * 24:
        return f"{count(minutes // 60, 'hour')} ago"
    return f"{count(passed.days, 'day')} ago" if passed.days <= 30 else when.strftime("%Y-%m-%d")


def size(octets: int) -> str:
    if octets < 1000:
        return count(octets, "byte")
    return f"{octets / 1000:.0f} kB" if octets < 1e6 else f"{octets / 1e6:.1f} MB"
