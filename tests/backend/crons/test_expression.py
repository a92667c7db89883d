from datetime import UTC, datetime

import pytest

from convex_evals.backend.crons import CronExpression

START = datetime(2026, 11, 15, 10, 30, 20, tzinfo=UTC)  # a Sunday


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
