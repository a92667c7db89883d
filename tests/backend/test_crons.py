from datetime import UTC, datetime

import pytest

from convex_evals.backend.crons import CronExpression, first_run, next_run, parse_schedule, skipped_runs

START = datetime(2026, 11, 15, 10, 30, 20, tzinfo=UTC)  # a Sunday

SECOND = 1_000_000_000
NOW = int(datetime(2026, 11, 15, 10, 30, 20, tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", "2026-11-15 10:31"),
        ("*/5 * * * *", "2026-11-15 10:35"),
        ("0 * * * *", "2026-11-15 11:00"),
        ("30 10 * * *", "2026-11-16 10:30"),
        ("0,45 10 * * *", "2026-11-15 10:45"),
        ("15/20 11 * * *", "2026-11-15 11:15"),
        ("0 0 31 * *", "2026-12-31 00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        ("0 0 * jan *", "2027-01-01 00:00"),
        ("0 0 * * MON", "2026-11-16 00:00"),
        ("0 0 * * fri-mon", "2026-11-16 00:00"),
        ("0 0 * * 2-4", "2026-11-17 00:00"),
        ("0 0 20 * 3", "2026-11-18 00:00"),
        ("0 0 L * *", "2026-11-30 00:00"),
        ("0 0 L-3 * *", "2026-11-27 00:00"),
        ("0 0 LW 2 *", "2027-02-26 00:00"),
        ("0 0 21W * *", "2026-11-20 00:00"),
        ("0 0 1W 5 *", "2027-05-03 00:00"),
        ("0 0 * * 5L", "2026-11-27 00:00"),
        ("0 0 * * 1#3", "2026-11-16 00:00"),
        ("0 0 * 2 1#5", "2044-02-29 00:00"),
        ("0 0 31 2 *", None),
    ],
)
def test_the_next_moment_is_the_first_match_strictly_in_the_future(expression: str, expected: str | None) -> None:
    moment = CronExpression.parse(expression).next_after(START)
    assert (moment and moment.strftime("%Y-%m-%d %H:%M")) == expected


@pytest.mark.parametrize(
    "expression", ["", "* * * *", "60 * * * *", "* * * * 7", "a * * * *", "1-x * * * *", "*/0 * * * *"]
)
def test_a_malformed_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="cron spec"):
        CronExpression.parse(expression)


def minute_of(moment: int) -> str:
    return datetime.fromtimestamp(moment // SECOND, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("exported", "stored"),
    [
        ({"type": "interval", "minutes": 2}, {"type": "interval", "seconds": 120}),
        ({"type": "interval", "hours": 1.0}, {"type": "interval", "seconds": 3600}),
        ({"type": "hourly", "minuteUTC": 5}, {"type": "hourly", "minuteUTC": 5}),
        ({"type": "daily", "hourUTC": 8}, {"type": "daily", "hourUTC": 8, "minuteUTC": None}),
        (
            {"type": "weekly", "dayOfWeek": "monday", "hourUTC": 8, "minuteUTC": 0},
            {"type": "weekly", "dayOfWeek": 1, "hourUTC": 8, "minuteUTC": 0},
        ),
        (
            {"type": "monthly", "day": 31, "hourUTC": 0, "minuteUTC": 0},
            {"type": "monthly", "day": 31, "hourUTC": 0, "minuteUTC": 0},
        ),
        ({"type": "cron", "cron": "*/5 * * * *"}, {"type": "cron", "cronExpr": "*/5 * * * *"}),
    ],
)
def test_an_exported_schedule_is_stored_in_canonical_form(
    exported: dict[str, object], stored: dict[str, object]
) -> None:
    assert parse_schedule(exported) == stored


@pytest.mark.parametrize(
    ("exported", "message"),
    [
        ({"type": "interval"}, "Exactly one of (seconds, minutes, hours) should be specified"),
        (
            {"type": "interval", "seconds": 1, "hours": 1},
            "Exactly one of (seconds, minutes, hours) should be specified",
        ),
        ({"type": "interval", "seconds": 0}, "Interval must be an integer greater than 0"),
        ({"type": "interval", "seconds": 1.5}, "Interval must be an integer greater than 0"),
        ({"type": "interval", "hours": 1e8}, "Interval must be at most 100 years"),
        ({"type": "interval", "seconds": 1e300}, "Interval must be at most 100 years"),
        ({"type": "hourly", "minuteUTC": 60}, 'minuteUTC must be 0-59 in {"type":"hourly","minuteUTC":60}'),
        ({"type": "daily", "hourUTC": 24}, 'hourUTC must be 0-23 in {"type":"daily","hourUTC":24}'),
        (
            {"type": "monthly", "day": 0, "hourUTC": 1},
            'day of month must be 1-31 in {"type":"monthly","day":0,"hourUTC":1}',
        ),
        ({"type": "cron", "cron": "0 0 31 2 *"}, 'The cron spec "0 0 31 2 *" will never match any time'),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(exported: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parse_schedule(exported)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("exported", "expected"),
    [
        ({"type": "interval", "seconds": 60}, "2026-11-15 10:30:20"),
        ({"type": "hourly", "minuteUTC": 5}, "2026-11-15 11:05:00"),
        ({"type": "daily", "hourUTC": 10, "minuteUTC": 30}, "2026-11-16 10:30:00"),
        ({"type": "weekly", "dayOfWeek": "monday", "hourUTC": 8, "minuteUTC": 0}, "2026-11-16 08:00:00"),
        ({"type": "monthly", "day": 31, "hourUTC": 0, "minuteUTC": 0}, "2026-12-31 00:00:00"),
    ],
)
def test_an_interval_runs_at_once_and_a_clock_schedule_at_its_next_moment(
    exported: dict[str, object], expected: str
) -> None:
    assert minute_of(first_run(parse_schedule(exported), "job", NOW)) == expected


def test_a_schedule_without_a_minute_keeps_to_one_moment_of_the_hour() -> None:
    schedule = parse_schedule({"type": "hourly"})
    moment = first_run(schedule, "job", NOW)
    assert NOW < moment <= NOW + 3600 * SECOND
    assert next_run(schedule, "job", moment, moment) == moment + 3600 * SECOND


@pytest.mark.parametrize(("late", "expected"), [(0, 60), (60, 60), (61, 120), (600, 600), (601, 660)])
def test_an_interval_keeps_its_phase_and_skips_what_is_past(late: int, expected: int) -> None:
    schedule = parse_schedule({"type": "interval", "minutes": 1})
    assert next_run(schedule, "job", NOW, NOW + late * SECOND) == NOW + expected * SECOND


@pytest.mark.parametrize(
    ("schedule", "following", "skipped"),
    [
        ({"type": "interval", "seconds": 60}, 60, 0),
        ({"type": "interval", "seconds": 60}, 600, 9),
        ({"type": "interval", "seconds": 60}, 30, 0),  # the interval became longer than the wait
        ({"type": "cron", "cronExpr": "* * * * *"}, 600, 0),
    ],
)
def test_only_intervals_skip_runs(schedule: dict[str, object], following: int, skipped: int) -> None:
    assert skipped_runs(schedule, NOW, NOW + following * SECOND) == skipped
