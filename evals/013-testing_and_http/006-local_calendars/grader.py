"""Recurring events in zones whose clocks change, and reminders that come once, whatever happens."""

import calendar
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
LATE = 2 * MINUTE
INVALID, NO_OCCURRENCE = {"code": "INVALID"}, {"code": "NO_OCCURRENCE"}
NAMES = ("setZone", "create", "skip", "move", "restore", "split", "pause", "resume", "agenda", "next", "reminders")


def utc(*fields: int) -> int:
    return round(datetime(*fields, tzinfo=UTC).timestamp() * 1000)


def day_at(moment: float) -> date:
    return datetime.fromtimestamp(moment / 1000, UTC).date()


def local(day: date, time: int) -> int:
    """As if the clock showed UTC."""
    return utc(day.year, day.month, day.day) + time * MINUTE


@dataclass(frozen=True)
class Zone:
    name: str
    offset: int
    changes: tuple[tuple[int, int], ...] = ()

    def moment(self, day: date, time: int) -> int:
        return moment_of(self, local(day, time))

    @property
    def arguments(self) -> dict[str, Any]:
        return {"name": self.name, "offset": self.offset, "changes": [{"at": a, "offset": o} for a, o in self.changes]}


@cache
def moment_of(zone: Zone, shown: int) -> int:
    """Of what the clocks show, which is given as if it were UTC."""
    offsets = [zone.offset, *(offset for _, offset in zone.changes)]
    begins = [-(10**15), *(at for at, _ in zone.changes)]
    periods = list(zip(begins, [*begins[1:], 10**15], offsets, strict=True))
    moments = [shown - offset * MINUTE for begin, end, offset in periods if begin <= shown - offset * MINUTE < end]
    if moments:
        return min(moments)
    skips = (
        before
        for before, (at, after) in zip(offsets, zone.changes, strict=False)
        if at + before * MINUTE <= shown < at + after * MINUTE
    )
    return shown - next(skips) * MINUTE


@dataclass
class Series:
    """What should be the case."""

    title: str
    zone: Zone
    first: date
    time: int
    minutes: int
    remind: int | None
    rule: dict[str, Any]
    dates: list[date] = field(default_factory=list)  # all of them, for as long as a test lasts
    moved: dict[date, tuple[date, int] | None] = field(default_factory=dict)
    reminded: set[date] = field(default_factory=set)
    reminders: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dates = self.dates or list(dates_of(self.rule, self.first))

    @property
    def arguments(self) -> dict[str, Any]:
        names = ("title", "time", "minutes", "remind", "rule")
        return {"zone": self.zone.name, "first": str(self.first), **{name: getattr(self, name) for name in names}}

    def start(self, day: date) -> int | None:
        place = self.moved.get(day, (day, self.time))
        return None if place is None else self.zone.moment(*place)

    def starts(self) -> Iterator[tuple[date, int]]:
        for day in self.dates:
            start = self.start(day)
            if start is not None:
                yield day, start

    def due(self, after: float, until: float, end_after: float = 0) -> None:
        """Writes the reminders of these moments."""
        for day, start in self.starts() if self.remind is not None else ():
            moment, end = start - (self.remind or 0) * MINUTE, start + self.minutes * MINUTE
            if after < moment <= until and day not in self.reminded and end > end_after:
                self.reminded.add(day)
                self.reminders.append((moment, str(day)))

    def moments(self) -> list[int]:
        ahead = (self.remind or 0) * MINUTE
        return [each for _, start in self.starts() for each in (start - ahead, start + self.minutes * MINUTE)]


def dates_of(rule: dict[str, Any], first: date, days: int = 420) -> Iterator[date]:
    found = 0
    for day in (first + timedelta(days=number) for number in range(days)):
        if str(day) > rule.get("until", "9999") or found == rule.get("count", -1):
            return
        if fits(rule, first, day):
            found += 1
            yield day


def fits(rule: dict[str, Any], first: date, day: date) -> bool:
    step = rule["step"]
    if rule["every"] == "day":
        return (day - first).days % step == 0
    if rule["every"] == "week":
        mondays = [each - timedelta(days=each.weekday()) for each in (first, day)]
        return (mondays[1] - mondays[0]).days // 7 % step == 0 and day.weekday() in rule["days"]
    if ((day.year - first.year) * 12 + day.month - first.month) % step:
        return False
    if "day" in rule:
        return day.day == rule["day"]
    own = [each for each in calendar.Calendar().itermonthdates(day.year, day.month) if each.month == day.month]
    alike = [each for each in own if each.weekday() == rule["weekday"]]
    return day == (alike[-1] if rule["nth"] == -1 else alike[rule["nth"] - 1])


def create(project: Deployment, series: Series) -> str:
    name: str = project.mutation("calendar:create", series.arguments)
    return name


def set_zone(project: Deployment, zone: Zone) -> None:
    project.mutation("calendar:setZone", zone.arguments)


def agenda(project: Deployment, start: float, days: float = 60) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.query("calendar:agenda", {"from": start, "to": start + days * DAY})
    return found


def starts(project: Deployment, start: float, days: float = 60) -> list[str]:
    found = (datetime.fromtimestamp(each["start"] / 1000, UTC) for each in agenda(project, start, days))
    return [f"{each:%Y-%m-%d %H:%M}" for each in found]


def reminders(project: Deployment, name: str) -> list[tuple[float, str]]:
    return [(each["at"], each["date"]) for each in project.query("calendar:reminders", seriesId=name)]


def simple(zone: Zone, first: date, **fields: Any) -> Series:
    given: dict[str, Any] = {"time": 540, "minutes": 60, "remind": None, "rule": {"every": "day", "step": 1}, **fields}
    return Series("event", zone, first, **given)


BERLIN = Zone("berlin", 60, ((utc(2025, 3, 30, 1), 120), (utc(2025, 10, 26, 1), 60), (utc(2026, 3, 29, 1), 120)))
LORD_HOWE = Zone("lord howe", 660, ((utc(2025, 4, 5, 15), 630), (utc(2025, 10, 4, 15, 30), 660)))
CHATHAM = Zone("west", -600, ((utc(2025, 5, 10, 10), -420), (utc(2025, 8, 1, 7), -600)))


@pytest.mark.parametrize(
    ("zone", "day", "time", "expected"),
    [
        (
            BERLIN,
            date(2025, 3, 28),
            150,
            ["2025-03-28 01:30", "2025-03-29 01:30", "2025-03-30 01:30", "2025-03-31 00:30"],
        ),
        (
            BERLIN,
            date(2025, 3, 29),
            119,
            ["2025-03-29 00:59", "2025-03-30 00:59", "2025-03-30 23:59", "2025-03-31 23:59"],
        ),
        (
            BERLIN,
            date(2025, 3, 29),
            120,
            ["2025-03-29 01:00", "2025-03-30 01:00", "2025-03-31 00:00", "2025-04-01 00:00"],
        ),
        (
            BERLIN,
            date(2025, 3, 29),
            180,
            ["2025-03-29 02:00", "2025-03-30 01:00", "2025-03-31 01:00", "2025-04-01 01:00"],
        ),
        (
            BERLIN,
            date(2025, 10, 24),
            150,
            ["2025-10-24 00:30", "2025-10-25 00:30", "2025-10-26 00:30", "2025-10-27 01:30"],
        ),
        (
            BERLIN,
            date(2025, 10, 25),
            180,
            ["2025-10-25 01:00", "2025-10-26 02:00", "2025-10-27 02:00", "2025-10-28 02:00"],
        ),
        (
            LORD_HOWE,
            date(2025, 4, 5),
            100,
            ["2025-04-04 14:40", "2025-04-05 14:40", "2025-04-06 15:10", "2025-04-07 15:10"],
        ),
        (
            LORD_HOWE,
            date(2025, 10, 4),
            135,
            ["2025-10-03 15:45", "2025-10-04 15:45", "2025-10-05 15:15", "2025-10-06 15:15"],
        ),
        (
            CHATHAM,
            date(2025, 5, 9),
            100,
            ["2025-05-09 11:40", "2025-05-10 11:40", "2025-05-11 08:40", "2025-05-12 08:40"],
        ),
        (
            CHATHAM,
            date(2025, 7, 31),
            1430,
            ["2025-08-01 06:50", "2025-08-02 09:50", "2025-08-03 09:50", "2025-08-04 09:50"],
        ),
    ],
    ids=range(10),
)
def test_local_times_where_clocks_change(
    project: Deployment, zone: Zone, day: date, time: int, expected: list[str]
) -> None:
    set_zone(project, zone)
    create(project, simple(zone, day, time=time, rule={"every": "day", "step": 1, "count": 4}))
    assert starts(project, local(day, 0) - DAY, 8) == expected


FLAT = Zone("flat", 0)
RULES: list[tuple[date, dict[str, Any]]] = [
    (date(2024, 1, 30), {"every": "day", "step": 3, "count": 25}),
    (date(2024, 2, 28), {"every": "day", "step": 1, "until": "2024-03-02"}),
    (date(2024, 2, 28), {"every": "day", "step": 5, "until": "2024-02-27"}),
    (date(2025, 1, 1), {"every": "week", "step": 1, "days": [0, 6]}),
    (date(2025, 1, 1), {"every": "week", "step": 2, "days": [6, 0, 2], "count": 8}),
    (date(2024, 12, 29), {"every": "week", "step": 3, "days": [0, 5]}),
    (date(2025, 1, 15), {"every": "month", "step": 1, "day": 31}),
    (date(2025, 1, 31), {"every": "month", "step": 1, "day": 30, "count": 3}),
    (date(2023, 12, 30), {"every": "month", "step": 2, "day": 29}),
    (date(2025, 1, 20), {"every": "month", "step": 1, "day": 10, "count": 2}),
    (date(2025, 1, 1), {"every": "month", "step": 1, "nth": -1, "weekday": 4}),
    (date(2025, 1, 8), {"every": "month", "step": 2, "nth": 1, "weekday": 2, "count": 4}),
    (date(2025, 2, 1), {"every": "month", "step": 1, "nth": 4, "weekday": 5, "until": "2025-04-26"}),
    (date(2024, 11, 1), {"every": "month", "step": 3, "nth": 2, "weekday": 6}),
]


@pytest.mark.parametrize(("first", "rule"), RULES, ids=range(len(RULES)))
def test_dates_of_rules(project: Deployment, first: date, rule: dict[str, Any]) -> None:
    set_zone(project, FLAT)
    series = simple(FLAT, first, rule=rule)
    create(project, series)
    found = [each["date"] for turn in range(6) for each in agenda(project, local(first, 0) + (turn * 60 - 1) * DAY)]
    assert found == [str(day) for day in series.dates if (day - first).days < 359]


def test_next_looks_ahead_but_not_for_ever(project: Deployment) -> None:
    set_zone(project, BERLIN)
    first = date(2025, 2, 10)
    never = create(project, simple(BERLIN, first, rule={"every": "month", "step": 12, "day": 30}))
    rare = create(project, simple(BERLIN, date(2024, 2, 29), rule={"every": "month", "step": 12, "day": 29}))
    daily = create(project, simple(BERLIN, first, rule={"every": "day", "step": 1, "count": 3}))
    assert project.query("calendar:next", seriesId=never, after=local(first, 0)) is None
    leap = utc(2028, 2, 29, 7)
    assert project.query("calendar:next", seriesId=rare, after=leap - 1000 * DAY - 1) is None
    found = project.query("calendar:next", seriesId=rare, after=leap - 1000 * DAY)
    assert found == {"seriesId": rare, "date": "2028-02-29", "title": "event", "start": leap, "end": leap + HOUR}
    start = utc(2025, 2, 11, 8)
    for after, expected in ((start - 1, "2025-02-11"), (start, "2025-02-12"), (start + DAY, None)):
        found = project.query("calendar:next", seriesId=daily, after=after)
        assert (found and found["date"]) == expected
    project.mutation("calendar:move", seriesId=daily, date="2025-02-10", toDate="2025-06-01", toTime=0)
    found = project.query("calendar:next", seriesId=daily, after=start + DAY)
    assert (found["date"], found["start"]) == ("2025-02-10", utc(2025, 5, 31, 22))


def test_the_agenda_has_what_overlaps(project: Deployment) -> None:
    set_zone(project, FLAT)
    for title, minutes in (("b", 60), ("a", 60), ("long", 10_000)):
        series = replace(
            simple(FLAT, date(2025, 5, 5), minutes=minutes, rule={"every": "day", "step": 1, "count": 1}), title=title
        )
        create(project, series)
    start = utc(2025, 5, 5, 9)
    for begin, end, expected in (
        (start, start + 1, ["a", "b", "long"]),
        (start - HOUR, start, []),
        (start + HOUR - 1, start + DAY, ["a", "b", "long"]),
        (start + HOUR, start + DAY, ["long"]),
        (start + 10_000 * MINUTE - 1, start + 20 * DAY, ["long"]),
        (start + 10_000 * MINUTE, start + 20 * DAY, []),
    ):
        found = project.query("calendar:agenda", {"from": begin, "to": end})
        assert [each["title"] for each in found] == expected, f"from {begin - start} to {end - start}"
    assert len(agenda(project, start - 61 * DAY, 62)) == 3
    with project.fails(data={"code": "TOO_LONG"}):
        project.query("calendar:agenda", {"from": start, "to": start + 62 * DAY + 1})


def test_occurrences_are_skipped_moved_and_restored(project: Deployment) -> None:
    set_zone(project, BERLIN)
    name = create(project, simple(BERLIN, date(2025, 3, 28), rule={"every": "day", "step": 1, "count": 3}))

    def change(kind: str, **arguments: Any) -> None:
        assert project.mutation(f"calendar:{kind}", {"seriesId": name, "date": "2025-03-29", **arguments}) is None

    begin = utc(2025, 3, 20)
    for _ in range(2):
        change("skip")
        assert starts(project, begin) == ["2025-03-28 08:00", "2025-03-30 07:00"]
    change("move", toDate="2025-03-30", toTime=150)
    assert starts(project, begin) == ["2025-03-28 08:00", "2025-03-30 01:30", "2025-03-30 07:00"]
    assert [each["date"] for each in agenda(project, begin)] == ["2025-03-28", "2025-03-29", "2025-03-30"]
    change("move", toDate="2025-03-01", toTime=0)
    assert starts(project, begin) == ["2025-03-28 08:00", "2025-03-30 07:00"]
    assert starts(project, begin - 30 * DAY)[0] == "2025-02-28 23:00"
    set_zone(project, replace(BERLIN, changes=(), offset=-30))
    assert starts(project, begin - 30 * DAY) == ["2025-03-01 00:30", "2025-03-28 09:30", "2025-03-30 09:30"]
    change("skip")
    change("restore")
    assert starts(project, begin) == ["2025-03-28 09:30", "2025-03-29 09:30", "2025-03-30 09:30"]


def test_a_series_is_split(project: Deployment) -> None:
    set_zone(project, FLAT)
    rule = {"every": "week", "step": 2, "days": [0, 3], "count": 7}
    old = create(project, simple(FLAT, date(2025, 1, 1), rule=rule))
    project.mutation("calendar:move", seriesId=old, date="2025-01-02", toDate="2025-01-20", toTime=0)
    project.mutation("calendar:move", seriesId=old, date="2025-01-30", toDate="2025-01-03", toTime=60)
    project.mutation("calendar:skip", seriesId=old, date="2025-02-10")
    new = project.mutation("calendar:split", seriesId=old, date="2025-01-16", title="new", time=600, minutes=30)
    found = agenda(project, utc(2025, 1, 1))
    names = {old: "old", new: "new"}
    received = [
        (names[each["seriesId"]], each["date"], each["title"], (each["end"] - each["start"]) // MINUTE)
        for each in found
    ]
    assert received == [
        ("new", "2025-01-30", "new", 30),
        ("old", "2025-01-13", "event", 60),
        ("new", "2025-01-16", "new", 30),
        ("old", "2025-01-02", "event", 60),
        ("new", "2025-01-27", "new", 30),
        ("new", "2025-02-13", "new", 30),
    ]
    assert [each["start"] for each in found][2:] == [
        utc(2025, 1, 16, 10),
        utc(2025, 1, 20),
        utc(2025, 1, 27, 10),
        utc(2025, 2, 13, 10),
    ]
    for name, day in ((old, "2025-01-16"), (old, "2025-01-27"), (new, "2025-01-13"), (new, "2025-02-24")):
        with project.fails(data=NO_OCCURRENCE):
            project.mutation("calendar:skip", seriesId=name, date=day)
    project.mutation("calendar:restore", seriesId=new, date="2025-02-10")
    project.mutation("calendar:restore", seriesId=old, date="2025-01-02")
    assert len(agenda(project, utc(2025, 1, 1))) == 7


def test_wrong_arguments_are_refused(project: Deployment) -> None:
    set_zone(project, FLAT)
    good = simple(FLAT, date(2025, 1, 1)).arguments
    day, week = {"every": "day", "step": 1}, {"every": "week", "step": 1}
    month, nth = {"every": "month", "step": 1}, {"every": "month", "step": 1, "nth": 1, "weekday": 0}
    wrong: list[dict[str, Any]] = [
        *({"first": each} for each in ("2025-02-29", "2025-13-01", "2025-1-1", "", "2025-01-01T00:00")),
        *({"time": each} for each in (-1, 1440, 0.5)),
        *({"minutes": each} for each in (0, 10_001, 1.5)),
        *({"remind": each} for each in (-1, 10_001, 1.5)),
        *({"rule": {**day, "step": each}} for each in (0, -1, 1.5)),
        *({"rule": {**day, "count": each}} for each in (0, 1.5)),
        *({"rule": {**day, "until": each}} for each in ("2025-02-30", "x")),
        {"rule": {**day, "until": "2025-05-05", "count": 5}},
        *({"rule": {**week, "days": each}} for each in ([], [7], [-1], [1, 1], [0.5])),
        *({"rule": {**month, "day": each}} for each in (0, 32, 1.5)),
        *({"rule": {**nth, **each}} for each in ({"nth": 0}, {"nth": 5}, {"nth": -2}, {"weekday": 7}, {"weekday": -1})),
    ]
    for change in wrong:
        with project.fails(data=INVALID):
            project.mutation("calendar:create", {**good, **change})
    with project.fails(data={"code": "NO_ZONE"}):
        project.mutation("calendar:create", {**good, "zone": "nowhere"})
    for rule in (week, month, {**month, "nth": 1}, {"every": "year", "step": 1}, {"every": "day"}, {**day, "day": 5}):
        with project.fails("ArgumentValidationError"):
            project.mutation("calendar:create", {**good, "rule": rule})
    assert project.documents("series") == []
    for zone in (Zone("z", 841), Zone("z", -721), Zone("z", 1, ((5, 900),)), Zone("z", 0, ((5, 60), (5, 0)))):
        with project.fails(data=INVALID):
            set_zone(project, zone)
    name = project.mutation("calendar:create", {**good, "rule": {**week, "days": [0]}})
    for kind, more in (
        ("skip", {}),
        ("restore", {}),
        ("move", {"toDate": "x", "toTime": 0}),
        ("split", {"title": "", "time": -1, "minutes": 5}),
    ):
        for other in ("2025-01-01", "2024-12-30", "2025-01-7", "2025-02-30"):
            with project.fails(data=NO_OCCURRENCE):
                project.mutation(f"calendar:{kind}", {"seriesId": name, "date": other, **more})
    for kind, more in (
        ("move", {"toDate": "2025-02-30", "toTime": 0}),
        ("move", {"toDate": "2025-02-20", "toTime": 1440}),
        ("split", {"title": "", "time": 1440, "minutes": 5}),
        ("split", {"title": "", "time": 0, "minutes": 0}),
    ):
        with project.fails(data=INVALID):
            project.mutation(f"calendar:{kind}", {"seriesId": name, "date": "2025-01-06", **more})
    public = {each for each, function in project.functions().items() if function.is_public}
    assert public == {f"calendar:{each}" for each in NAMES}


def tomorrow(project: Deployment, days: int = 1) -> date:
    return day_at(project.now()) + timedelta(days=days)


def advance_to(project: Deployment, moment: float) -> None:
    project.advance(seconds=max(moment - project.now(), 0) / 1000)


def test_reminders_come_by_themselves_and_once(project: Deployment) -> None:
    first = tomorrow(project, 3)
    change = local(first, 0) + 30 * HOUR
    zone = Zone("z", 120, ((change, 60),))
    set_zone(project, zone)
    series = simple(zone, first, time=0, remind=90, rule={"every": "day", "step": 1, "count": 4})
    name = create(project, series)
    quiet = create(project, simple(zone, first, time=0))
    moments = [start - 90 * MINUTE for _, start in series.starts()]
    project.advance(minutes=1)
    with project.trace(scheduled=True) as work:
        advance_to(project, moments[0] - 5 * MINUTE)
    assert list(work.calls) == [], "nothing is due"
    with project.clients(1) as [client]:
        live = client.subscribe("calendar:reminders", seriesId=name)
        advance_to(project, moments[0] + LATE)
        client.catch_up()
        assert live.value == [{"date": str(first), "at": moments[0]}]
        project.restart()
    advance_to(project, moments[2] + LATE)
    assert (
        reminders(project, name) == [(moment, str(day)) for moment, day in zip(moments, series.dates, strict=True)][:3]
    )
    project.advance(days=10)
    assert [at for at, _ in reminders(project, name)] == moments
    assert reminders(project, quiet) == []


def test_moments_that_have_passed_do_not_count(project: Deployment) -> None:
    first, zone = tomorrow(project, 2), Zone("z", 0)
    set_zone(project, zone)
    rule = {"every": "day", "step": 1, "until": str(first)}
    old, created = simple(zone, first - timedelta(days=400), remind=10, rule=rule), project.now()
    past = create(project, old)
    name = create(project, simple(zone, first, time=720, remind=60, rule={"every": "day", "step": 1, "count": 3}))
    assert reminders(project, past) == []
    second, third = (str(first + timedelta(days=days)) for days in (1, 2))
    noon = local(first, 720)
    advance_to(project, noon - 30 * MINUTE)
    assert reminders(project, name) == [(noon - HOUR, str(first))]
    project.mutation("calendar:move", seriesId=name, date=str(first), toDate=str(first), toTime=1000)
    project.mutation("calendar:move", seriesId=name, date=second, toDate=str(first), toTime=700)
    project.mutation("calendar:skip", seriesId=name, date=third)
    advance_to(project, local(first, 1100))
    assert reminders(project, name) == [(noon - HOUR, str(first))], "once for each, and none for the past"
    project.mutation("calendar:move", seriesId=name, date=second, toDate=second, toTime=10)
    advance_to(project, local(first, 1440))
    assert reminders(project, name)[1:] == [(local(first, 1390), second)]
    advance_to(project, noon + 2 * DAY - 30 * MINUTE)
    project.mutation("calendar:restore", seriesId=name, date=third)
    advance_to(project, noon + 3 * DAY)
    assert len(reminders(project, name)) == 2
    due = [(start - 10 * MINUTE, str(day)) for day, start in old.starts() if start - 10 * MINUTE > created]
    assert reminders(project, past) == due


def test_replaced_zones_move_reminders(project: Deployment) -> None:
    first, zone = tomorrow(project, 2), Zone("z", 0)
    set_zone(project, zone)
    series = simple(zone, first, time=720, remind=0, rule={"every": "day", "step": 1, "count": 3})
    name, noon = create(project, series), local(first, 720)
    advance_to(project, noon - 2 * HOUR)
    set_zone(project, Zone("z", 180))
    advance_to(project, noon + HOUR + 5 * MINUTE)
    assert reminders(project, name) == [], "the moment was an hour ago when the zone was replaced"
    set_zone(project, Zone("z", -60))
    advance_to(project, noon + DAY - 4 * HOUR)
    second = str(first + timedelta(days=1))
    assert reminders(project, name) == [], "13 o'clock has passed"
    set_zone(project, Zone("z", 60))
    advance_to(project, noon + DAY)
    assert reminders(project, name) == [(noon + DAY - HOUR, second)]
    set_zone(project, Zone("z", 0))
    advance_to(project, noon + DAY + HOUR)
    assert len(reminders(project, name)) == 1, "once, also after the zone was replaced"


def test_a_replaced_zone_brings_a_reminder_forward(project: Deployment) -> None:
    first, zone = tomorrow(project, 3), Zone("z", 0)
    set_zone(project, zone)
    name = create(project, simple(zone, first, time=720, remind=0, rule={"every": "day", "step": 1, "count": 1}))
    set_zone(project, Zone("z", 120))
    moment = local(first, 720) - 2 * HOUR
    advance_to(project, moment + LATE)
    assert reminders(project, name) == [(moment, str(first))]


def test_paused_reminders_are_made_up_for(project: Deployment) -> None:
    first, zone = tomorrow(project, 2), Zone("z", 0)
    set_zone(project, zone)
    rule = {"every": "day", "step": 1, "count": 5}
    name = create(project, simple(zone, first, time=600, minutes=2000, remind=30, rule=rule))
    short = create(project, simple(zone, first, time=600, minutes=30, remind=60, rule=rule))
    start = local(first, 600)
    advance_to(project, start + HOUR)
    days = [str(first + timedelta(days=number)) for number in range(5)]
    for _ in range(2):
        assert project.mutation("calendar:pause") is None
    advance_to(project, start + 2 * DAY + HOUR)
    late = create(project, simple(zone, first, time=660, minutes=300, remind=30, rule=rule))
    project.mutation("calendar:move", seriesId=short, date=days[4], toDate=days[2], toTime=650)
    assert len(reminders(project, name)) == len(reminders(project, short)) == 1
    advance_to(project, start + 2 * DAY + 65 * MINUTE)
    for _ in range(2):
        assert project.mutation("calendar:resume") is None
    moment = start - 30 * MINUTE
    expected = [(moment + number * DAY, days[number]) for number in range(3)]
    assert reminders(project, name) == expected
    assert reminders(project, short) == [(start - HOUR, days[0]), (start + 2 * DAY - 10 * MINUTE, days[4])]
    assert reminders(project, late) == [(start + 2 * DAY + 30 * MINUTE, days[2])]
    advance_to(project, start + 10 * DAY)
    assert [day for _, day in reminders(project, name)] == days
    assert [day for _, day in reminders(project, short)] == [days[0], days[4], days[3]]


def test_reminders_are_sorted_by_their_moments_and_then_by_date(project: Deployment) -> None:
    first, zone = tomorrow(project, 2), Zone("z", 0)
    set_zone(project, zone)
    rule = {"every": "day", "step": 1, "count": 3}
    name = create(project, simple(zone, first, time=600, minutes=3000, remind=0, rule=rule))
    days = [str(first + timedelta(days=number)) for number in range(3)]
    project.mutation("calendar:pause")
    project.mutation("calendar:move", seriesId=name, date=days[0], toDate=days[1], toTime=700)
    project.mutation("calendar:move", seriesId=name, date=days[2], toDate=days[1], toTime=600)
    start = local(first, 600) + DAY
    advance_to(project, start + 2 * HOUR)
    project.mutation("calendar:resume")
    assert reminders(project, name) == [(start, days[1]), (start, days[2]), (start + 100 * MINUTE, days[0])]


def test_reminders_after_a_split(project: Deployment) -> None:
    first, zone = tomorrow(project, 2), Zone("z", 0)
    set_zone(project, zone)
    old = create(project, simple(zone, first, time=600, remind=2000, rule={"every": "day", "step": 1, "count": 4}))
    days = [str(first + timedelta(days=number)) for number in range(4)]
    advance_to(project, local(first, 600) - 500 * MINUTE)
    assert [day for _, day in reminders(project, old)] == days[:2]
    new = project.mutation("calendar:split", seriesId=old, date=days[1], title="new", time=1200, minutes=5)
    project.mutation("calendar:move", seriesId=old, date=days[0], toDate=days[3], toTime=600)
    advance_to(project, local(first, 600) + 10 * DAY)
    assert [day for _, day in reminders(project, old)] == days[:2], "what was written stays, and no more comes"
    expected = [(local(first + timedelta(days=number), 1200) - 2000 * MINUTE, days[number]) for number in (2, 3)]
    assert reminders(project, new) == expected


class World:
    """All series and zones, as they should be."""

    def __init__(self, project: Deployment, chance: random.Random) -> None:
        self.project, self.chance = project, chance
        self.series: dict[str, Series] = {}
        self.zones: dict[str, Zone] = {}
        self.seen = self.paused = 0.0
        for name in ("x", "y"):
            self.set_zone(name)
        self.seen = project.now()

    def zone(self, name: str) -> Zone:
        """Changes every few weeks, at full hours of local time."""
        offsets = [self.chance.choice([-210, 0, 60, 525]) + self.chance.choice([0, 30, 60, 120]) for _ in range(8)]
        now = round(self.project.now()) // DAY * DAY
        ats = [now + (number * 13 - 20) * DAY + self.chance.randrange(24) * HOUR for number in range(8)]
        steps = [offsets[0]]
        for _ in ats:
            steps.append(max(-720, min(840, steps[-1] + self.chance.choice([-120, -60, -30, 30, 60, 120]))))
        return Zone(name, steps[0], tuple(zip(ats, steps[1:], strict=True)))

    def set_zone(self, name: str) -> None:
        self.zones[name] = self.zone(name)
        set_zone(self.project, self.zones[name])
        for each in self.series.values():
            if each.zone.name == name:
                each.zone = self.zones[name]

    def tick(self) -> None:
        now = self.project.now()
        if not self.paused:
            for each in self.series.values():
                each.due(self.seen, now)
            self.seen = now

    def is_close(self, now: float) -> bool:
        return any(abs(moment - now) < 5 * MINUTE for each in self.series.values() for moment in each.moments())

    def settle(self, hours: float = 0) -> None:
        """Lets time pass, and some more if something is close."""
        self.project.advance(hours=hours)
        while self.is_close(self.project.now()):
            self.project.advance(minutes=7)
        self.tick()

    def create(self) -> str:
        chance = self.chance
        rules: list[dict[str, Any]] = [
            {"every": "day", "step": chance.randrange(1, 4)},
            {"every": "week", "step": chance.randrange(1, 3), "days": chance.sample(range(7), 2)},
            {"every": "month", "step": 1, "day": chance.choice([5, 15, 29, 31])},
            {"every": "month", "step": 1, "nth": chance.choice([1, 3, -1]), "weekday": chance.randrange(7)},
        ]
        ends: list[dict[str, Any]] = [
            {},
            {"count": chance.randrange(5, 40)},
            {"until": str(tomorrow(self.project, 25))},
        ]
        series = Series(
            f"series {len(self.series)}",
            self.zones[chance.choice("xy")],
            tomorrow(self.project, chance.randrange(-40, 5)),
            *(chance.choice([0, 75, 150, 605, 1439]), chance.choice([15, 90, 2000])),
            chance.choice([None, 0, 45, 1500, 3000]),
            {**chance.choice(rules), **chance.choice(ends)},
        )
        self.series[create(self.project, series)] = series
        return "create"

    def act(self) -> str:
        kind = self.chance.choice(["create", "skip", "move", "move", "move", "restore", "split", "zone", "pause"])
        if kind == "create" and len(self.series) < 7:
            return self.create()
        if kind == "zone":
            self.set_zone(self.chance.choice("xy"))
            return kind
        if kind == "pause":
            return self.toggle()
        name, series = self.chance.choice(list(self.series.items()))
        near = [day for day in series.dates if -3 <= (day - tomorrow(self.project, 0)).days <= 9]
        if not near:
            return "nothing"
        return self.change(kind, name, series, self.chance.choice(near))

    def toggle(self) -> str:
        if not self.paused:
            self.project.mutation("calendar:pause")
            self.paused = self.seen
            return "pause"
        self.project.mutation("calendar:resume")
        now = self.project.now()
        for each in self.series.values():
            each.due(self.paused, now, end_after=now)
        self.paused, self.seen = 0.0, now
        return "resume"

    def change(self, kind: str, name: str, series: Series, day: date) -> str:
        arguments: dict[str, Any] = {"seriesId": name, "date": str(day)}
        if kind == "move":
            place = (tomorrow(self.project, self.chance.randrange(-1, 6)), self.chance.choice([60, 130, 150, 900]))
            self.project.mutation("calendar:move", {**arguments, "toDate": str(place[0]), "toTime": place[1]})
            series.moved[day] = place
        elif kind == "split" and len(self.series) < 9:
            more = {"title": f"part {len(self.series)}", "time": self.chance.choice([30, 700]), "minutes": 50}
            new: str = self.project.mutation("calendar:split", {**arguments, **more})
            self.series[new] = self.split(series, day, more)
        elif kind == "skip":
            self.project.mutation("calendar:skip", arguments)
            series.moved[day] = None
        else:
            self.project.mutation("calendar:restore", arguments)
            series.moved.pop(day, None)
        return f"{kind} {series.title} {arguments} {series.moved.get(day)}"

    def split(self, series: Series, day: date, more: dict[str, Any]) -> Series:
        later = [each for each in series.dates if each >= day]
        series.dates = [each for each in series.dates if each < day]
        moved = {each: place for each, place in series.moved.items() if each >= day}
        new = replace(
            series,
            **more,
            first=day,
            dates=later,
            moved=moved,
            reminded={each for each in series.reminded if each >= day},
            reminders=[],
        )
        series.moved = {each: place for each, place in series.moved.items() if each < day}
        return new

    def agenda(self, begin: float, end: float) -> list[tuple[int, str, str, int]]:
        all_of_them = [
            (start, each.title, str(day), start + each.minutes * MINUTE)
            for each in self.series.values()
            for day, start in each.starts()
        ]
        return sorted(each for each in all_of_them if each[0] < end and each[3] > begin)

    def check(self, done: list[str]) -> None:
        begin = self.project.now() - 9 * DAY
        found = agenda(self.project, begin, 45)
        received = [(each["start"], each["title"], each["date"], each["end"]) for each in found]
        assert sorted(received) == self.agenda(begin, begin + 45 * DAY), f"agenda after {done}"
        order = [each[:2] for each in received]
        assert order == sorted(order), f"order of the agenda after {done}"
        for name, each in self.series.items():
            assert reminders(self.project, name) == sorted(each.reminders), f"reminders of {each.title} after {done}"


@pytest.mark.parametrize("seed", range(3))
def test_calendars_are_right_whatever_happens(project: Deployment, seed: int) -> None:
    # The same calendar, whenever the test runs.
    advance_to(project, utc(2031 + 2 * seed, 1, 6, 5))
    world, done = World(project, random.Random(seed)), list[str]()
    for _ in range(3):
        done.append(world.create())
    for turn in range(20):
        world.settle(world.chance.choice([0, 3, 11, 30, 60]))
        if turn == 12:
            project.restart()
        done.append(world.act())
        world.settle()
        world.check(done)
