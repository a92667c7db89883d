"""Schedules: from the JSON that `cronJobs().export()` gives to the stored form, and from there to moments.

The stored form is what `_cron_jobs` and analysis show: `{"type": "interval", "seconds": 60}`,
`{"type": "weekly", "dayOfWeek": 1, "hourUTC": 8, "minuteUTC": 30}`, `{"type": "cron", "cronExpr": "*/5 * * * *"}`.
"""

import zlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import orjson

from convex_evals.backend.crons.expression import CronExpression

NANOSECONDS = 1_000_000_000
INTERVAL_UNITS = {"seconds": 1, "minutes": 60, "hours": 3600}
DAYS_OF_WEEK = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")

Schedule = dict[str, object]


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
            schedule = {"type": kind, "dayOfWeek": _weekday(json), "hourUTC": _hour(json), "minuteUTC": _minute(json)}
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
    return amount * INTERVAL_UNITS[given[0]]


def _minute(json: Mapping[str, object]) -> int | None:
    if json.get("minuteUTC") is None:
        return None
    return _between(json, "minuteUTC", 0, 59, "minuteUTC must be 0-59")


def _hour(json: Mapping[str, object]) -> int:
    return _between(json, "hourUTC", 0, 23, "hourUTC must be 0-23")


def _day(json: Mapping[str, object]) -> int:
    return _between(json, "day", 1, 31, "day of month must be 1-31")


def _weekday(json: Mapping[str, object]) -> int:
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
