"""Five-field cron expressions in UTC: minute, hour, day of month, month, day of week (0 = Sunday)."""

import calendar
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if name}
WEEKDAYS = {name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}
MAX_GAP_YEARS = 41  # a fifth weekday of February: 28 years apart, 40 across a century without a leap year

DayRule = Callable[[date], bool]


@dataclass(frozen=True, slots=True)
class CronExpression:
    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    day_rules: tuple[DayRule, ...]  # any of them may match; empty means every day

    @classmethod
    def parse(cls, text: str) -> "CronExpression":
        """Raises ValueError."""
        fields = text.upper().split()
        if len(fields) != 5:
            raise ValueError(f'The cron spec "{text}" must have 5 fields, but it has {len(fields)}')
        minute, hour, day, month, weekday = fields
        try:
            return cls(
                minutes=_numbers(minute, 0, 59),
                hours=_numbers(hour, 0, 23),
                months=_numbers(month, 1, 12, MONTHS),
                day_rules=(*_day_of_month_rules(day), *_day_of_week_rules(weekday)),
            )
        except ValueError as error:
            raise ValueError(f'The cron spec "{text}" is invalid: {error}') from None

    def next_after(self, moment: datetime) -> datetime | None:
        """The first matching minute strictly after `moment`; None when there is none."""
        start = moment.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        today = self._next_time(start.time()) if self._matches_day(start.date()) else None
        if today is not None:
            return datetime.combine(start.date(), today, UTC)
        day = self._next_day(start.date() + timedelta(days=1))
        return None if day is None else datetime.combine(day, time(min(self.hours), min(self.minutes)), UTC)

    def _next_time(self, earliest: time) -> time | None:
        later = ((hour, minute) for hour in sorted(self.hours) for minute in sorted(self.minutes))
        return next((time(*pair) for pair in later if pair >= (earliest.hour, earliest.minute)), None)

    def _next_day(self, first: date) -> date | None:
        day, last = first, first.year + MAX_GAP_YEARS
        while day.year <= last:
            if day.month not in self.months:
                day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            elif self._matches_day(day):
                return day
            else:
                day += timedelta(days=1)
        return None

    def _matches_day(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        return not self.day_rules or any(rule(day) for rule in self.day_rules)


def _numbers(field: str, low: int, high: int, names: dict[str, int] | None = None) -> frozenset[int]:
    return frozenset().union(*(_range(part, low, high, names or {}) for part in field.split(",")))


def _range(part: str, low: int, high: int, names: dict[str, int]) -> range | list[int]:
    span, slash, step_text = part.partition("/")
    step = _number(step_text, 1, high, {}) if slash else 1
    if span == "*":
        return range(low, high + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, low, high, names)
    if not dash:
        return range(first, high + 1, step) if slash else range(first, first + 1)
    last = _number(last_text, low, high, names)
    wrapped = last if last >= first else last + high - low + 1
    return [low + (value - low) % (high - low + 1) for value in range(first, wrapped + 1, step)]


def _number(text: str, low: int, high: int, names: dict[str, int]) -> int:
    value = names.get(text, int(text) if text.isascii() and text.isdigit() else None)
    if value is None or not low <= value <= high:
        raise ValueError(f'"{text}" is not a value from {low} to {high}')
    return value


def _day_of_month_rules(field: str) -> list[DayRule]:
    return [] if field == "*" else [_day_of_month_rule(part) for part in field.split(",")]


def _day_of_month_rule(part: str) -> DayRule:
    if part == "L":
        return lambda day: day.day == _last_day(day)
    if part == "LW":
        return lambda day: day == _nearest_weekday(day.replace(day=_last_day(day)))
    if part.startswith("L-"):
        back = _number(part[2:], 1, 30, {})
        return lambda day: day.day == _last_day(day) - back
    if part.endswith("W"):
        target = _number(part[:-1], 1, 31, {})
        return lambda day: target <= _last_day(day) and day == _nearest_weekday(day.replace(day=target))
    days = _numbers(part, 1, 31)
    return lambda day: day.day in days


def _day_of_week_rules(field: str) -> list[DayRule]:
    return [] if field == "*" else [_day_of_week_rule(part) for part in field.split(",")]


def _day_of_week_rule(part: str) -> DayRule:
    if "#" in part:
        weekday_text, _, nth_text = part.partition("#")
        weekday, nth = _number(weekday_text, 0, 6, WEEKDAYS), _number(nth_text, 1, 5, {})
        return lambda day: _weekday(day) == weekday and (day.day - 1) // 7 + 1 == nth
    if part.endswith("L") and len(part) > 1:
        last = _number(part[:-1], 0, 6, WEEKDAYS)
        return lambda day: _weekday(day) == last and day.day + 7 > _last_day(day)
    weekdays = _numbers(part, 0, 6, WEEKDAYS)
    return lambda day: _weekday(day) in weekdays


def _weekday(day: date) -> int:
    return day.isoweekday() % 7


def _last_day(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _nearest_weekday(day: date) -> date:
    """The working day nearest to `day` within the same month."""
    if day.weekday() == 5:
        return day - timedelta(days=1) if day.day > 1 else day + timedelta(days=2)
    if day.weekday() == 6:
        return day + timedelta(days=1) if day.day < _last_day(day) else day - timedelta(days=2)
    return day
