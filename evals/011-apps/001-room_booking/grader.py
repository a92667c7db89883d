"""Rooms that are never taken twice, holds that expire, and people who get their turn without asking again."""

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, at_once

HOUR = 3_600_000
DAY = 24 * HOUR
WEEK = 7 * DAY
HOLD_MINUTES = 10
TICK_MINUTES = 7
"""Holds that follow one another end at least a minute before or after a multiple of this."""

FUNCTIONS = {
    "booking:request": ("mutation", {"room": "r", "user": "u", "start": 1, "end": 2, "wait": True}),
    "booking:bookWeekly": ("mutation", {"room": "r", "user": "u", "start": 1, "end": 2, "weeks": 1}),
    "booking:confirm": ("mutation", {"user": "u", "id": "x"}),
    "booking:cancel": ("mutation", {"user": "u", "id": "x"}),
    "booking:cancelSeries": ("mutation", {"user": "u", "id": "x"}),
    "booking:move": ("mutation", {"user": "u", "id": "x", "start": 1, "end": 2}),
    "booking:get": ("query", {"id": "x"}),
    "booking:calendar": ("query", {"room": "r", "from": 1, "to": 2}),
    "booking:waiting": ("query", {"room": "r"}),
}


class Rooms:
    """The functions with short names. Hours count from the beginning of a day that is a month ahead."""

    def __init__(self, project: Deployment) -> None:
        self.project = project
        self.base = (project.now() // DAY + 30) * DAY

    def at(self, hours: float) -> int:
        return round(self.base + hours * HOUR)

    def times(self, hours: tuple[float, float]) -> dict[str, int]:
        return {"start": self.at(hours[0]), "end": self.at(hours[1])}

    def request(self, user: str, *hours: float, room: str = "r", wait: bool = True) -> Any:
        times = self.times((hours[0], hours[1]))
        return self.project.mutation("booking:request", room=room, user=user, **times, wait=wait)

    def weekly(self, user: str, *hours: float, weeks: int, room: str = "r") -> Any:
        times = self.times((hours[0], hours[1]))
        return self.project.mutation("booking:bookWeekly", room=room, user=user, **times, weeks=weeks)

    def move(self, user: str, id: str, *hours: float) -> Any:
        return self.project.mutation("booking:move", user=user, id=id, **self.times((hours[0], hours[1])))

    def call(self, name: str, user: str, id: str) -> Any:
        return self.project.mutation(f"booking:{name}", user=user, id=id)

    def held(self, user: str, *hours: float) -> str:
        made = self.request(user, *hours)
        assert made["status"] == "held"
        return str(made["id"])

    def booked(self, user: str, *hours: float) -> str:
        id = self.held(user, *hours)
        assert self.call("confirm", user, id) is None
        return id

    def waiting(self, user: str, *hours: float) -> str:
        made = self.request(user, *hours)
        assert made["status"] == "waiting"
        return str(made["id"])

    def statuses(self, *ids: str) -> list[str]:
        return [self.project.query("booking:get", id=id)["status"] for id in ids]

    def queue(self, room: str = "r") -> list[str]:
        queue: list[str] = self.project.query("booking:waiting", room=room)
        return queue

    def calendar(self, start: float = 0, end: float = 24, room: str = "r") -> list[dict[str, Any]]:
        window = {"from": self.at(start), "to": self.at(end)}
        shown: list[dict[str, Any]] = self.project.query("booking:calendar", {"room": room, **window})
        return shown


@pytest.fixture
def rooms(project: Deployment) -> Rooms:
    return Rooms(project)


@dataclass
class Reservation:
    id: str
    room: str
    user: str
    start: int
    end: int
    status: str
    expires: float = 0
    event: int = 0
    series: list[str] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        return self.status in ("held", "booked")


@dataclass
class Truth:
    """Hours as whole numbers, minutes that pass only when the clock is moved."""

    all: dict[str, Reservation] = field(default_factory=dict)
    minutes: float = 0
    events: int = 0

    def is_free(self, room: str, start: int, end: int, without: str = "") -> bool:
        others = [each for each in self.all.values() if each.room == room and each.is_active and each.id != without]
        return all(each.end <= start or each.start >= end for each in others)

    def hold(self, one: Reservation) -> None:
        one.status, one.expires, one.event = "held", self.minutes + HOLD_MINUTES, self.events

    def promote(self, room: str) -> None:
        self.events += 1
        for each in self.queue(room):
            if self.is_free(room, each.start, each.end):
                self.hold(each)

    def queue(self, room: str) -> list[Reservation]:
        return [each for each in self.all.values() if each.room == room and each.status == "waiting"]

    def held(self) -> list[Reservation]:
        return sorted((each for each in self.all.values() if each.status == "held"), key=lambda each: each.event)

    def pass_time(self, minutes: int) -> None:
        until = self.minutes + minutes
        while due := [each for each in self.held() if each.expires <= until]:
            first = min(due, key=lambda each: (each.expires, each.event))
            self.minutes, first.status = first.expires, "expired"
            self.promote(first.room)
        self.minutes = until

    def twins(self) -> list[Reservation]:
        """Held since the same moment as another one: nobody could say which of them expires first."""
        held = self.held()
        return [each for at, each in enumerate(held) if any(each.event == other.event for other in held[:at])]


class Walk:
    """Random operations, on the deployment and on the truth."""

    def __init__(self, rooms: Rooms, seed: int) -> None:
        self.rooms, self.truth, self.chance = rooms, Truth(), random.Random(seed)
        self.done: list[str] = []

    def step(self) -> None:
        names = ["request"] * 6 + ["confirm", "cancel", "cancel", "move", "weekly", "series", "wait", "wait"]
        name = self.chance.choice(names)
        self.done.append(name)
        self.truth.events += 1
        getattr(self, name)()

    def hours(self) -> tuple[int, int]:
        start = self.chance.randint(0, 7)
        return start, start + self.chance.randint(1, 3)

    def refused(self, code: str) -> Any:
        return self.rooms.project.fails(data={"code": code})

    def add(self, id: str, room: str, user: str, hours: tuple[int, int], status: str) -> Reservation:
        one = self.truth.all[id] = Reservation(id, room, user, *hours, status)
        return one

    def request(self) -> None:
        hours, room, user = self.hours(), self.chance.choice("rrrs"), self.chance.choice("ab")
        wait, free = self.chance.random() < 0.7, self.truth.is_free(room, *hours)
        if not free and not wait:
            with self.refused("TAKEN"):
                self.rooms.request(user, *hours, room=room, wait=wait)
            return
        made = self.rooms.request(user, *hours, room=room, wait=wait)
        assert made["status"] == ("held" if free else "waiting")
        one = self.add(made["id"], room, user, hours, "waiting")
        if free:
            self.truth.hold(one)

    def weekly(self) -> None:
        (start, end), user = self.hours(), self.chance.choice("ab")
        later = (start + 7 * 24, end + 7 * 24)
        if not (self.truth.is_free("r", start, end) and self.truth.is_free("r", *later)):
            with self.refused("TAKEN"):
                self.rooms.weekly(user, start, end, weeks=2)
            return
        ids = self.rooms.weekly(user, start, end, weeks=2)
        for id, hours in zip(ids, [(start, end), later], strict=True):
            self.add(id, "r", user, hours, "booked").series = ids

    def pick(self) -> Reservation | None:
        return self.chance.choice(list(self.truth.all.values())) if self.truth.all else None

    def confirm(self) -> None:
        if one := self.pick():
            self.confirm_one(one)

    def confirm_one(self, one: Reservation) -> None:
        if one.status != "held":
            with self.refused("NOT_HELD"):
                self.rooms.call("confirm", one.user, one.id)
        else:
            self.rooms.call("confirm", one.user, one.id)
            one.status = "booked"

    def cancel(self) -> None:
        one = self.pick()
        if one and (one.is_active or one.status == "waiting"):
            self.rooms.call("cancel", one.user, one.id)
            one.status = "cancelled"
            self.truth.promote(one.room)
        elif one:
            with self.refused("OVER"):
                self.rooms.call("cancel", one.user, one.id)

    def series(self) -> None:
        one = self.pick()
        if one and one.series:
            rest = [self.truth.all[id] for id in one.series[one.series.index(one.id) :]]
            booked = [each for each in rest if each.status == "booked"]
            assert self.rooms.call("cancelSeries", one.user, one.id) == len(booked)
            for each in booked:
                each.status = "cancelled"
            self.truth.promote(one.room)
        elif one:
            with self.refused("NO_SERIES"):
                self.rooms.call("cancelSeries", one.user, one.id)

    def move(self) -> None:
        one, hours = self.pick(), self.hours()
        if one is None:
            return
        if not one.is_active or not self.truth.is_free(one.room, *hours, one.id):
            with self.refused("TAKEN" if one.is_active else "NOT_ACTIVE"):
                self.rooms.move(one.user, one.id, *hours)
            return
        self.rooms.move(one.user, one.id, *hours)
        one.start, one.end = hours
        self.truth.promote(one.room)

    def wait(self) -> None:
        for twin in self.truth.twins():
            self.confirm_one(twin)
        minutes = TICK_MINUTES * self.chance.randint(1, 3)
        self.rooms.project.advance(minutes=minutes)
        self.truth.pass_time(minutes)

    def check(self) -> None:
        for room in "rs":
            active = [each for each in self.truth.all.values() if each.room == room and each.is_active]
            expected = [
                {"id": each.id, "user": each.user, "status": each.status, **self.rooms.times((each.start, each.end))}
                for each in sorted(active, key=lambda each: each.start)
            ]
            assert self.rooms.calendar(0, 8 * 24, room) == expected
            assert self.rooms.queue(room) == [each.id for each in self.truth.queue(room)]
        if one := self.pick():
            shown = {"room": one.room, "user": one.user, "status": one.status}
            received = self.rooms.project.query("booking:get", id=one.id)
            assert received == {**shown, **self.rooms.times((one.start, one.end))}


@pytest.mark.parametrize("seed", range(3))
def test_rooms_are_shared_by_the_rules_whatever_happens(rooms: Rooms, seed: int) -> None:
    walk = Walk(rooms, seed)
    for _ in range(28):
        try:
            walk.step()
            walk.check()
        except (AssertionError, CallFailed) as wrong:
            raise AssertionError(f"after {', '.join(walk.done)}: {wrong}") from None


def test_one_may_begin_when_another_ends(rooms: Rooms) -> None:
    rooms.held("ada", 10, 11)
    rooms.held("ben", 11, 12)
    rooms.held("cyd", 9, 10)
    rooms.waiting("dan", 11.5, 12.5)
    assert [each["user"] for each in rooms.calendar(10, 11)] == ["ada"]
    assert [each["user"] for each in rooms.calendar(9.5, 11.01)] == ["cyd", "ada", "ben"]
    assert rooms.calendar(12, 24) == []


def test_long_reservations_are_not_overlooked(rooms: Rooms) -> None:
    long = rooms.booked("ada", 1, 25)
    rooms.waiting("ben", 24.5, 26)
    assert [each["id"] for each in rooms.calendar(24.75, 24.8)] == [long]
    with rooms.project.fails(data={"code": "TAKEN"}):
        rooms.weekly("cyd", 24.9, 25.1, weeks=2)


def test_a_hold_expires_after_ten_minutes_and_the_next_one_gets_ten_of_their_own(rooms: Rooms) -> None:
    first, second, third = rooms.held("ada", 10, 12), rooms.waiting("ben", 11, 13), rooms.waiting("cyd", 9, 11)
    rooms.project.advance(minutes=9)
    assert rooms.statuses(first, second, third) == ["held", "waiting", "waiting"]
    rooms.project.advance(minutes=2)
    assert rooms.statuses(first, second, third) == ["expired", "held", "held"]
    with rooms.project.fails(data={"code": "NOT_HELD"}):
        rooms.call("confirm", "ada", first)
    rooms.call("confirm", "ben", second)
    rooms.project.advance(minutes=8)
    assert rooms.statuses(second, third) == ["booked", "held"]
    rooms.project.advance(minutes=2)
    assert rooms.statuses(second, third) == ["booked", "expired"]
    rooms.project.advance(days=2)
    assert rooms.statuses(first, second, third) == ["expired", "booked", "expired"]


def test_who_does_not_fit_is_passed_over_and_keeps_the_place_in_line(rooms: Rooms) -> None:
    first, second = rooms.booked("ada", 10, 12), rooms.booked("ben", 12, 14)
    long, short = rooms.waiting("cyd", 11, 13), rooms.waiting("dan", 10, 11)
    rooms.call("cancel", "ada", first)
    assert rooms.statuses(long, short) == ["waiting", "held"]
    rooms.call("cancel", "ben", second)
    assert rooms.statuses(long, short) == ["held", "held"]


def test_a_moved_hold_keeps_its_end(rooms: Rooms) -> None:
    first = rooms.held("ada", 10, 12)
    rooms.project.advance(minutes=7)
    second = rooms.waiting("ben", 10, 11)
    rooms.move("ada", first, 11, 13)
    assert rooms.statuses(first, second) == ["held", "held"]
    rooms.project.advance(minutes=4)
    assert rooms.statuses(first, second) == ["expired", "held"]


def test_a_waiting_reservation_lapses_when_its_time_comes(rooms: Rooms) -> None:
    rooms.base = rooms.project.now()
    taken = rooms.booked("ada", 1, 5)
    soon, later = rooms.waiting("ben", 2, 3), rooms.waiting("cyd", 4, 5)
    rooms.project.advance(minutes=110)
    assert rooms.statuses(soon, later) == ["waiting", "waiting"]
    rooms.project.advance(minutes=20)
    assert rooms.statuses(soon, later) == ["lapsed", "waiting"]
    assert rooms.queue() == [later]
    rooms.call("cancel", "ada", taken)
    assert rooms.statuses(soon, later) == ["lapsed", "held"]
    with rooms.project.fails(data={"code": "OVER"}):
        rooms.call("cancel", "ben", soon)


def test_a_promoted_reservation_does_not_lapse(rooms: Rooms) -> None:
    rooms.base = rooms.project.now()
    taken, second = rooms.booked("ada", 1, 5), rooms.waiting("ben", 2, 3)
    rooms.call("cancel", "ada", taken)
    rooms.call("confirm", "ben", second)
    rooms.project.advance(hours=4)
    assert rooms.statuses(second) == ["booked"]


def test_who_watches_sees_a_hold_expire_and_the_next_one_begin_without_anyone_calling_anything(rooms: Rooms) -> None:
    day = {"room": "r", "from": rooms.at(0), "to": rooms.at(24)}
    first, second = rooms.held("ada", 10, 12), rooms.waiting("ben", 11, 13)
    with (
        rooms.project.subscribe("booking:get", id=first) as hold,
        rooms.project.subscribe("booking:calendar", day) as calendar,
        rooms.project.subscribe("booking:waiting", room="r") as queue,
    ):
        assert (hold.value["status"], len(calendar.value), queue.value) == ("held", 1, [second])
        rooms.project.advance(minutes=11)
        hold.wait_until(lambda shown: shown["status"] == "expired")
        calendar.wait_until(lambda shown: [(each["id"], each["status"]) for each in shown] == [(second, "held")])
        queue.wait_until(lambda shown: shown == [])
        rooms.project.advance(minutes=10)
        calendar.wait_until(lambda shown: shown == [])


def test_who_watches_sees_a_waiting_reservation_lapse_without_anyone_calling_anything(rooms: Rooms) -> None:
    rooms.base = rooms.project.now()
    rooms.booked("ada", 1, 5)
    soon, later = rooms.waiting("ben", 2, 3), rooms.waiting("cyd", 4, 5)
    with (
        rooms.project.subscribe("booking:get", id=soon) as one,
        rooms.project.subscribe("booking:waiting", room="r") as queue,
    ):
        assert (one.value["status"], queue.value) == ("waiting", [soon, later])
        rooms.project.advance(minutes=130)
        one.wait_until(lambda shown: shown["status"] == "lapsed")
        queue.wait_until(lambda shown: shown == [later])


def test_only_one_of_many_who_ask_at_once_gets_the_room(rooms: Rooms) -> None:
    wish = {"room": "r", **rooms.times((10, 11)), "wait": True}
    with rooms.project.clients(6) as clients:
        calls = [partial(each.mutation, "booking:request", user=str(at), **wish) for at, each in enumerate(clients)]
        made = at_once(calls)
    assert sorted(each["status"] for each in made) == ["held"] + ["waiting"] * 5
    assert len(rooms.queue()) == 5


def test_reservations_belong_to_their_users(rooms: Rooms) -> None:
    held, (booked, _) = rooms.held("ada", 1, 2), rooms.weekly("ada", 3, 4, weeks=2)
    for name, id in (("confirm", held), ("cancel", held), ("cancelSeries", booked)):
        with rooms.project.fails(data={"code": "NOT_YOURS"}):
            rooms.call(name, "ben", id)
        with rooms.project.fails(data={"code": "NOT_FOUND"}):
            rooms.call(name, "ada", "nothing")
    for user, id, code in (("ben", held, "NOT_YOURS"), ("ada", "nothing", "NOT_FOUND")):
        with rooms.project.fails(data={"code": code}):
            rooms.move(user, id, 3, 2)
    assert rooms.project.query("booking:get", id="nothing") is None
    assert rooms.statuses(held, booked) == ["held", "booked"]


def test_impossible_times_are_refused(rooms: Rooms) -> None:
    held = rooms.held("ada", 1, 2)
    since_now = (rooms.project.now() - rooms.base) / HOUR
    past = (since_now - 0.1, since_now + 1)
    for code, hours in (("INVALID", (5, 5)), ("INVALID", (6, 5)), ("INVALID", (5, 29.1)), ("PAST", past)):
        for refused in (
            partial(rooms.request, "ada", *hours),
            partial(rooms.weekly, "ada", *hours, weeks=1),
            partial(rooms.move, "ada", held, *hours),
        ):
            with rooms.project.fails(data={"code": code}):
                refused()
    for weeks in (0, 1.5, 53, -1):
        with rooms.project.fails(data={"code": "INVALID"}):
            rooms.weekly("ada", 5, 6, weeks=weeks)
    assert len(rooms.weekly("ada", 5, 6, weeks=52)) == 52
    assert [each["start"] for each in rooms.calendar(24, 24 * 15)] == [rooms.at(5 + 168), rooms.at(5 + 336)]
    with rooms.project.fails(data={"code": "TAKEN"}):
        rooms.weekly("ben", 5 - 168 * 2, 6 - 168 * 2, weeks=3)
    assert len(rooms.calendar(-24 * 29, 24)) == 2


def test_a_full_year_does_not_slow_anything_down(rooms: Rooms) -> None:
    for number in range(4):
        rooms.weekly("ada", number * 26, number * 26 + 1, weeks=50)
    rooms.waiting("ben", 26 + 24 * 14 * 7 + 0.5, 26 + 24 * 14 * 7 + 2)
    other = rooms.held("cyd", 26 + 24 * 7 * 20 + 5, 26 + 24 * 7 * 20 + 6)
    calls = {
        "request": lambda: rooms.held("cyd", 24 * 7 * 20 + 10, 24 * 7 * 20 + 11),
        "move": lambda: rooms.move("cyd", other, 24 * 7 * 21 + 10, 24 * 7 * 21 + 11),
        "confirm": lambda: rooms.call("confirm", "cyd", other),
        "cancel": lambda: rooms.call("cancel", "cyd", other),
        "calendar": lambda: rooms.calendar(24 * 7 * 20, 24 * 7 * 20 + 24),
    }
    for name, call in calls.items():
        with rooms.project.trace() as work:
            call()
        assert work.documents_read < 60, name


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    for name, (kind, arguments) in FUNCTIONS.items():
        call = project.query if kind == "query" else project.mutation
        for argument, value in arguments.items():
            wrong = {**arguments, argument: 1 if isinstance(value, str | bool) else "1"}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(name, rejected)
