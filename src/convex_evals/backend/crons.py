"""When cron jobs run: schedules as `crons.ts` writes them, and the moments they mean.

A schedule arrives as the JSON of `cronJobs().export()` and is stored in the form that `_cron_jobs` and analysis show:
`{"type": "interval", "seconds": 60}`, `{"type": "weekly", "dayOfWeek": 1, "hourUTC": 8, "minuteUTC": 30}`,
`{"type": "cron", "cronExpr": "*/5 * * * *"}`.

Cron expressions have five fields, in UTC: minute, hour, day of month, month, day of week (0 = Sunday).
"""

import calendar
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import orjson

MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if name}
WEEKDAYS = {name: number for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}
MAX_GAP_YEARS = 41  # a fifth weekday of February: 28 years apart, 40 across a century without a leap year

DayRule = Callable[[date], bool]

NANOSECONDS = 1_000_000_000
INTERVAL_UNITS = {"seconds": 1, "minutes": 60, "hours": 3600}
LONGEST_INTERVAL_SECONDS = 100 * 365 * 86_400
"""Times are nanoseconds in 64 bits; Convex documents no limit, and nobody waits for a longer one."""
DAYS_OF_WEEK = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")

Schedule = dict[str, object]


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
                day_rules=(*_day_rules(day, _day_of_month_rule), *_day_rules(weekday, _day_of_week_rule)),
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


def _day_rules(field: str, rule_of: Callable[[str], DayRule]) -> list[DayRule]:
    return [] if field == "*" else [rule_of(part) for part in field.split(",")]


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


def parse_schedule(json: Mapping[str, object]) -> Schedule:
    """Raises ValueError with the text a push shows."""
    kind = json.get("type")
    match kind:
        case "interval":
            return {"type": "interval", "seconds": _interval_seconds(json)}
        case "hourly":
            schedule: Schedule = {"type": kind, "minuteUTC": _minute(json)}
        case "daily":
            schedule = {"type": kind, "hourUTC": _hour(json), "minuteUTC": _minute(json)}
        case "weekly":
            schedule = {
                "type": kind,
                "dayOfWeek": _day_of_week(json),
                "hourUTC": _hour(json),
                "minuteUTC": _minute(json),
            }
        case "monthly":
            schedule = {"type": kind, "day": _day(json), "hourUTC": _hour(json), "minuteUTC": _minute(json)}
        case "cron":
            schedule = {"type": "cron", "cronExpr": _expression(json)}
        case _:
            raise ValueError(f"Invalid cron schedule type in {_shown(json)}")
    return schedule


def first_run(schedule: Schedule, identifier: str, now: int) -> int:
    """When a job added at `now` (ns) runs for the first time: intervals at once, all others at their next moment."""
    return now if schedule["type"] == "interval" else _next_moment(schedule, identifier, now)


def next_run(schedule: Schedule, identifier: str, previous: int, now: int) -> int:
    """The run after the one planned for `previous` (ns). Intervals keep their phase and skip what is already past."""
    if schedule["type"] != "interval":
        return _next_moment(schedule, identifier, now)
    step = _integer(schedule["seconds"]) * NANOSECONDS
    following = previous + step
    return following if following >= now else following + -(-(now - following) // step) * step


def skipped_runs(schedule: Schedule, previous: int, following: int) -> int:
    """How many runs an interval left out between the one planned for `previous` and the one at `following` (ns)."""
    if schedule["type"] != "interval":
        return 0
    step = _integer(schedule["seconds"]) * NANOSECONDS
    return max(0, (following - previous) // step - 1)


def _next_moment(schedule: Schedule, identifier: str, now: int) -> int:
    offset = _offset(schedule, identifier)
    base = datetime.fromtimestamp(now // NANOSECONDS, UTC) - timedelta(seconds=offset)
    moment = CronExpression.parse(_as_expression(schedule)).next_after(base)
    if moment is None:
        raise ValueError(f'The cron spec "{_as_expression(schedule)}" will never match any time')
    return (int(moment.timestamp()) + offset) * NANOSECONDS


def _offset(schedule: Schedule, identifier: str) -> int:
    """A schedule without a minute gets a stable second of the hour."""
    unpinned = "minuteUTC" in schedule and schedule["minuteUTC"] is None
    return zlib.crc32(identifier.encode()) % 3600 if unpinned else 0


def _as_expression(schedule: Schedule) -> str:
    if schedule["type"] == "cron":
        return str(schedule["cronExpr"])
    minute = schedule["minuteUTC"] or 0
    hour, day, weekday = (schedule.get(name, "*") for name in ("hourUTC", "day", "dayOfWeek"))
    return f"{minute} {hour} {day} * {weekday}"


def _interval_seconds(json: Mapping[str, object]) -> int:
    given = [unit for unit in INTERVAL_UNITS if json.get(unit) is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of (seconds, minutes, hours) should be specified")
    amount = _whole(json[given[0]])
    if amount is None or amount <= 0:
        raise ValueError("Interval must be an integer greater than 0")
    seconds = amount * INTERVAL_UNITS[given[0]]
    if seconds > LONGEST_INTERVAL_SECONDS:
        raise ValueError("Interval must be at most 100 years")
    return seconds


def _minute(json: Mapping[str, object]) -> int | None:
    if json.get("minuteUTC") is None:
        return None
    return _between(json, "minuteUTC", 0, 59, "minuteUTC must be 0-59")


def _hour(json: Mapping[str, object]) -> int:
    return _between(json, "hourUTC", 0, 23, "hourUTC must be 0-23")


def _day(json: Mapping[str, object]) -> int:
    return _between(json, "day", 1, 31, "day of month must be 1-31")


def _day_of_week(json: Mapping[str, object]) -> int:
    name = json.get("dayOfWeek")
    if name not in DAYS_OF_WEEK:
        raise ValueError(f"Invalid dayOfWeek in {_shown(json)}")
    return DAYS_OF_WEEK.index(name)


def _expression(json: Mapping[str, object]) -> str:
    text = json.get("cron")
    if not isinstance(text, str):
        raise ValueError(f"cron must be a string in {_shown(json)}")
    if CronExpression.parse(text).next_after(datetime.now(UTC)) is None:
        raise ValueError(f'The cron spec "{text}" will never match any time')
    return text


def _between(json: Mapping[str, object], name: str, low: int, high: int, rule: str) -> int:
    value = _whole(json.get(name))
    if value is None or not low <= value <= high:
        raise ValueError(f"{rule} in {_shown(json)}")
    return value


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == int(value) else None


def _integer(value: object) -> int:
    assert isinstance(value, int)
    return value


def _shown(json: Mapping[str, object]) -> str:
    return orjson.dumps(json).decode()
