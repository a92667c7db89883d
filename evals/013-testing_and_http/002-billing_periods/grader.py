"""Months of different lengths in local time, and what is due happening once, by itself."""

import calendar
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
INVALID, ENDED = {"code": "INVALID"}, {"code": "ENDED"}
# What is due may be an hour late.
LATE = HOUR + MINUTE


def instant(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def utc(*fields: int) -> int:
    return instant(datetime(*fields, tzinfo=UTC))


def beginning(start: float, offset: int, period: int) -> float:
    """Of the period with this number; the first one is number 0."""
    if period == 0:
        return start
    local = datetime.fromtimestamp(start / 1000, UTC) + timedelta(minutes=offset)
    year, month = divmod(local.year * 12 + local.month - 1 + period, 12)
    day = min(local.day, calendar.monthrange(year, month + 1)[1])
    return instant(datetime(year, month + 1, day, tzinfo=UTC) - timedelta(minutes=offset))


def subscribe(project: Deployment, start: float, offset: int = 0, cents: int = 100) -> str:
    name: str = project.mutation("billing:subscribe", cents=cents, offset=offset, start=start)
    return name


def begun(start: float, offset: int, now: float) -> list[tuple[float, float]]:
    """Beginnings and ends of the periods so far."""
    periods: list[tuple[float, float]] = []
    while not periods or periods[-1][1] <= now:
        periods.append((beginning(start, offset, len(periods)), beginning(start, offset, len(periods) + 1)))
    return periods


def invoices(project: Deployment, name: str) -> list[tuple[float, float, int]]:
    found = project.query("billing:invoices", subscriptionId=name)
    return [(each["from"], each["to"], each["cents"]) for each in found]


def reminders(project: Deployment, name: str) -> list[tuple[float, int]]:
    return [(each["at"], each["cents"]) for each in project.query("billing:reminders", subscriptionId=name)]


def advance_to(project: Deployment, moment: float) -> None:
    project.advance(seconds=max(moment - project.now(), 0) / 1000)


def soon(project: Deployment, offset: int = 0, days: float = 10) -> tuple[float, int]:
    """A start months ago whose current period ends in so many days, at a local midnight; and how many have begun."""
    local = datetime.fromtimestamp((project.now() + days * DAY) / 1000, UTC) + timedelta(minutes=offset)
    # A day that all months have, so that the end is where it should be.
    local = local.replace(day=min(local.day, 28)) if local.day <= 28 else local.replace(day=1) + timedelta(days=32)
    start = local.replace(year=local.year - 1, day=min(local.day, 28), hour=13) - timedelta(minutes=offset)
    return instant(start), len(begun(instant(start), offset, project.now()))


CASES = [
    (utc(2024, 1, 31, 10), 0, ["2024-01-31T10:00", "2024-02-29T00:00", "2024-03-31T00:00", "2024-04-30T00:00"]),
    (utc(2025, 1, 30, 0), 0, ["2025-01-30T00:00", "2025-02-28T00:00", "2025-03-30T00:00", "2025-04-30T00:00"]),
    (utc(2024, 12, 31, 23, 59), 0, ["2024-12-31T23:59", "2025-01-31T00:00", "2025-02-28T00:00", "2025-03-31T00:00"]),
    (utc(2024, 12, 31, 23, 30), 60, ["2024-12-31T23:30", "2025-01-31T23:00", "2025-02-28T23:00", "2025-03-31T23:00"]),
    (utc(2025, 3, 1, 3), -300, ["2025-03-01T03:00", "2025-03-28T05:00", "2025-04-28T05:00", "2025-05-28T05:00"]),
    (utc(2025, 1, 30, 18, 30), 330, ["2025-01-30T18:30", "2025-02-27T18:30", "2025-03-30T18:30", "2025-04-29T18:30"]),
    (utc(2024, 11, 30, 12), 840, ["2024-11-30T12:00", "2024-12-31T10:00", "2025-01-31T10:00", "2025-02-28T10:00"]),
    (utc(2025, 8, 31, 11, 59), -720, ["2025-08-31T11:59", "2025-09-30T12:00", "2025-10-30T12:00", "2025-11-30T12:00"]),
]


@pytest.mark.parametrize(("start", "offset", "expected"), CASES, ids=range(len(CASES)))
def test_periods_begin_on_the_day_of_the_start(
    project: Deployment, start: int, offset: int, expected: list[str]
) -> None:
    name = subscribe(project, start, offset)
    received = invoices(project, name)
    shown = [datetime.fromtimestamp(each[0] / 1000, UTC).isoformat()[:16] for each in received[:4]]
    assert shown == expected
    assert [each[:2] for each in received] == begun(start, offset, project.now())
    assert {each[2] for each in received} == {100}
    assert reminders(project, name) == []


def test_what_is_due_happens_at_its_time(project: Deployment) -> None:
    offset = -210
    start, count = soon(project, offset)
    end = beginning(start, offset, count)
    with project.clients(1) as [client]:
        name = subscribe(project, start, offset)
        live, notes = (client.subscribe(f"billing:{each}", subscriptionId=name) for each in ("invoices", "reminders"))
        advance_to(project, end - 63 * HOUR - 5 * MINUTE)
        client.catch_up()
        assert (len(live.value), notes.value) == (count, [])
        advance_to(project, end - 63 * HOUR + LATE)
        project.mutation("billing:setPrice", subscriptionId=name, cents=250)
        client.catch_up()
        assert notes.value == [{"at": end - 63 * HOUR, "cents": 100}]
        advance_to(project, end - 5 * MINUTE)
        client.catch_up()
        assert len(live.value) == count
        advance_to(project, end + LATE)
        client.catch_up()
        last = {"from": end, "to": beginning(start, offset, count + 1), "cents": 250}
        assert live.value[count:] == [last]
        advance_to(project, last["to"] - 63 * HOUR + LATE)
        client.catch_up()
        assert notes.value[1:] == [{"at": last["to"] - 63 * HOUR, "cents": 250}]
        advance_to(project, last["to"] + LATE)
        client.catch_up()
        assert [each["cents"] for each in live.value] == [100] * count + [250, 250]


def test_nothing_runs_when_nothing_is_due(project: Deployment) -> None:
    start, count = soon(project)
    subscribe(project, start)
    project.advance(minutes=1)
    with project.trace(scheduled=True) as work:
        advance_to(project, beginning(start, 0, count) - 63 * HOUR - 5 * MINUTE)
    assert [each.function for each in work.calls] == [], "nothing is due"


def test_a_subscription_that_begins_now(project: Deployment) -> None:
    start = project.now()
    name = subscribe(project, start, 120)
    end = beginning(start, 120, 1)
    assert invoices(project, name) == [(start, end, 100)]
    advance_to(project, end + LATE)
    assert invoices(project, name) == [(start, end, 100), (end, beginning(start, 120, 2), 100)]
    assert reminders(project, name) == [(end - 63 * HOUR, 100)]
    subscribe(project, project.now() + 30_000)


def test_no_reminder_is_written_for_a_moment_that_has_passed(project: Deployment) -> None:
    end = datetime.fromtimestamp(project.now() / 1000, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end += timedelta(days=1 if (end + timedelta(days=2)).strftime("%m-%d") == "02-29" else 2)
    start = instant(end.replace(year=end.year - 1, hour=13))
    name = subscribe(project, start)
    following = beginning(start, 0, 13)
    assert invoices(project, name)[-1][1] == instant(end)
    advance_to(project, instant(end) + LATE)
    assert reminders(project, name) == []
    advance_to(project, following - 63 * HOUR + LATE)
    assert reminders(project, name) == [(following - 63 * HOUR, 100)]


def test_a_cancelled_subscription_ends_with_its_period(project: Deployment) -> None:
    start, count = soon(project)
    end, name = beginning(start, 0, count), subscribe(project, start)
    with project.clients(1) as [client]:
        live = client.subscribe("billing:status", subscriptionId=name)
        assert live.value == "active"
        for _ in range(2):
            assert project.mutation("billing:cancel", subscriptionId=name) is None
        client.catch_up()
        assert live.value == "ending"
        advance_to(project, end - 5 * MINUTE)
        client.catch_up()
        assert live.value == "ending"
        advance_to(project, end + LATE)
        client.catch_up()
        assert live.value == "ended"
    for call in ("cancel", "resume"):
        with project.fails(data=ENDED):
            project.mutation(f"billing:{call}", subscriptionId=name)
    with project.fails(data=ENDED):
        project.mutation("billing:setPrice", subscriptionId=name, cents=5)
    with project.fails(data=INVALID):
        project.mutation("billing:setPrice", subscriptionId=name, cents=0)
    project.advance(days=40)
    assert (len(invoices(project, name)), reminders(project, name)) == (count, [])


def test_a_resumed_subscription_is_billed_once(project: Deployment) -> None:
    start, count = soon(project)
    end, name = beginning(start, 0, count), subscribe(project, start)
    for _ in range(2):
        project.mutation("billing:cancel", subscriptionId=name)
        assert project.mutation("billing:resume", subscriptionId=name) is None
        assert project.mutation("billing:resume", subscriptionId=name) is None
    assert project.query("billing:status", subscriptionId=name) == "active"
    advance_to(project, end - 63 * HOUR + LATE)
    assert reminders(project, name) == [(end - 63 * HOUR, 100)]
    project.mutation("billing:cancel", subscriptionId=name)
    project.advance(hours=5)
    project.mutation("billing:resume", subscriptionId=name)
    advance_to(project, end + LATE)
    following = beginning(start, 0, count + 1)
    assert invoices(project, name)[count:] == [(end, following, 100)]
    project.mutation("billing:cancel", subscriptionId=name)
    advance_to(project, following - 63 * HOUR + LATE)
    project.mutation("billing:resume", subscriptionId=name)
    advance_to(project, following + LATE)
    assert reminders(project, name) == [(end - 63 * HOUR, 100)], "what was left out is not made up for"
    assert len(invoices(project, name)) == count + 2


def test_wrong_subscriptions_are_refused(project: Deployment) -> None:
    now = project.now()
    good: dict[str, Any] = {"cents": 100, "offset": 0, "start": now}
    for change in (
        {"cents": 0},
        {"cents": -5},
        {"cents": 1.5},
        {"offset": -721},
        {"offset": 841},
        {"offset": 0.5},
        {"start": now + 3 * MINUTE},
    ):
        with project.fails(data=INVALID):
            project.mutation("billing:subscribe", {**good, **change})
    for argument in good:
        rest = {key: value for key, value in good.items() if key != argument}
        for bad in (rest, {**rest, argument: "5"}):
            with project.fails("ArgumentValidationError"):
                project.mutation("billing:subscribe", bad)
    name = subscribe(project, now, 840)
    for cents in (0, 2.5):
        with project.fails(data=INVALID):
            project.mutation("billing:setPrice", subscriptionId=name, cents=cents)
    with project.fails("ArgumentValidationError"):
        project.mutation("billing:setPrice", subscriptionId=name, cents="5")
    for call in ("cancel", "resume"):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"billing:{call}", subscriptionId="nonsense")
    public = {each for each, function in project.functions().items() if function.is_public}
    names = ("subscribe", "setPrice", "cancel", "resume", "status", "invoices", "reminders")
    assert public == {f"billing:{each}" for each in names}


@dataclass
class Subscription:
    """What should be the case."""

    start: float
    offset: int
    now: float
    cents: int = 100
    status: str = "active"
    invoices: list[tuple[float, float, int]] = field(default_factory=list)
    reminders: list[tuple[float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.invoices = [(*period, self.cents) for period in begun(self.start, self.offset, self.now)]

    def due(self) -> tuple[float, float]:
        """The next reminder and the next end."""
        end = self.invoices[-1][1]
        return end - 63 * HOUR, end

    def advance(self, now: float) -> None:
        while self.status != "ended":
            reminder, end = self.due()
            if self.now < reminder <= now and self.status == "active":
                self.reminders.append((reminder, self.cents))
            self.now = min(now, end)
            if end > now:
                break
            if self.status == "active":
                following = beginning(self.start, self.offset, len(self.invoices) + 1)
                self.invoices.append((end, following, self.cents))
            else:
                self.status = "ended"


def settle(project: Deployment, truths: dict[str, Subscription], hours: float) -> None:
    """Lets time pass, and more if something may be late."""
    project.advance(hours=hours)
    moments = [moment for truth in truths.values() for moment in truth.due()]
    for truth in truths.values():
        moments += [beginning(truth.start, truth.offset, len(truth.invoices) + 1)]
    while any(moment - 5 * MINUTE < project.now() <= moment + LATE for moment in moments):
        project.advance(minutes=70)
    for truth in truths.values():
        truth.advance(project.now())


def act(project: Deployment, name: str, truth: Subscription, chance: random.Random) -> str:
    kind = chance.choice(["cancel", "resume", "setPrice", "nothing"])
    arguments: dict[str, Any] = {"subscriptionId": name}
    if kind == "setPrice":
        arguments["cents"] = chance.randrange(1, 500)
    if kind == "nothing":
        return kind
    if truth.status == "ended":
        with project.fails(data=ENDED):
            project.mutation(f"billing:{kind}", arguments)
        return f"{kind} too late"
    project.mutation(f"billing:{kind}", arguments)
    truth.cents = arguments.get("cents", truth.cents)
    truth.status = {"cancel": "ending", "resume": "active"}.get(kind, truth.status)
    return kind


@pytest.mark.parametrize("seed", range(3))
def test_subscriptions_are_billed_rightly_whatever_happens(project: Deployment, seed: int) -> None:
    # The same calendar, whenever the test runs.
    advance_to(project, utc(2031 + 2 * seed, 1, 29, 5))
    chance, done, truths = random.Random(seed), list[str](), dict[str, Subscription]()
    for _ in range(4):
        start, offset = project.now() - chance.randrange(1, 300) * DAY, chance.choice([-720, -210, 0, 345, 840])
        truths[subscribe(project, start, offset)] = Subscription(start, offset, project.now())
    settle(project, truths, 0)
    for turn in range(22):
        name, truth = chance.choice(list(truths.items()))
        done.append(act(project, name, truth, chance))
        if turn == 9:
            project.restart()
        settle(project, truths, chance.choice([1, 20, 40, 70, 150]))
        for each, expected in truths.items():
            received = (
                invoices(project, each),
                reminders(project, each),
                project.query("billing:status", subscriptionId=each),
            )
            assert received == (expected.invoices, expected.reminders, expected.status), f"after {done}"
