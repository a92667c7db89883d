"""Access that ends by itself, also on pages that are open at that moment."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment, LiveQuery

HOUR = 3_600_000
USERS = ("ada", "ben", "cyd", "dan")
# Five seconds are allowed; the clock stops this long after a moment that matters.
GRACE = 6.0


def create(project: Deployment, owner: str = "ada", name: str = "plans", seats: int = 9) -> str:
    room: str = project.as_user(owner).mutation("rooms:create", name=name, seats=seats)
    return room


def let_in(project: Deployment, room: str, user: str, until: float, owner: str = "ada") -> None:
    assert project.as_user(owner).mutation("rooms:letIn", roomId=room, user=user, until=until) is None


@contextmanager
def watching(project: Deployment, user: str, room: str) -> Iterator[tuple[LiveQuery, LiveQuery]]:
    """Open pages of a user: the notes of a room, and all rooms."""
    with project.as_user(user).clients(1) as [client]:
        yield client.subscribe("rooms:notes", roomId=room), client.subscribe("rooms:mine")


def shown(live: LiveQuery) -> Any:
    live.client.catch_up()
    return live.value


def test_open_pages_change_when_the_time_is_up(project: Deployment) -> None:
    room = create(project)
    project.as_user("ada").mutation("rooms:addNote", roomId=room, text="secret")
    until = project.now() + HOUR
    let_in(project, room, "ben", until)
    let_in(project, room, "cyd", until + HOUR)
    with watching(project, "ben", room) as (notes, mine), project.as_user("ada").clients(1) as [owner]:
        guests = owner.subscribe("rooms:guests", roomId=room)
        assert (notes.value, mine.value) == (["secret"], ["plans"])
        assert guests.value == [{"user": "ben", "until": until}, {"user": "cyd", "until": until + HOUR}]
        project.advance(minutes=59)
        assert (shown(notes), shown(mine)) == (["secret"], ["plans"])
        project.advance(minutes=1, seconds=GRACE)
        assert (shown(notes), shown(mine)) == (None, [])
        assert shown(guests) == [{"user": "cyd", "until": until + HOUR}]
        project.as_user("ada").mutation("rooms:addNote", roomId=room, text="more")
        assert shown(notes) is None
        let_in(project, room, "ben", project.now() + HOUR)
        assert (shown(notes), shown(mine)) == (["secret", "more"], ["plans"])


def test_only_the_last_end_counts(project: Deployment) -> None:
    room, start = create(project), project.now()
    with watching(project, "ben", room) as (notes, _):
        assert notes.value is None
        let_in(project, room, "ben", start + 2 * HOUR)
        let_in(project, room, "ben", start + 5 * HOUR)
        project.advance(hours=3)
        assert shown(notes) == [], "access was prolonged"
        let_in(project, room, "ben", start + 4 * HOUR)
        project.advance(hours=1, seconds=GRACE)
        assert shown(notes) is None, "access was shortened"
        let_in(project, room, "ben", start + 9 * HOUR)
        project.advance(hours=2)
        assert shown(notes) == [], "access was given anew"
        project.as_user("ada").mutation("rooms:throwOut", roomId=room, user="ben")
        assert shown(notes) is None
        let_in(project, room, "ben", start + 12 * HOUR)
        project.advance(hours=4)
        assert shown(notes) == [], "what was planned before the user was thrown out counts no more"
        project.advance(hours=2, seconds=GRACE)
        assert shown(notes) is None


def test_a_new_owner_is_no_guest(project: Deployment) -> None:
    room = create(project)
    ada, ben = project.as_user("ada"), project.as_user("ben")
    until = project.now() + HOUR
    let_in(project, room, "ben", until)
    let_in(project, room, "cyd", until + HOUR)
    with watching(project, "ben", room) as (notes, mine), watching(project, "ada", room) as (before, _):
        assert ada.mutation("rooms:transfer", roomId=room, user="ben") is None
        assert (shown(notes), shown(mine), shown(before)) == ([], ["plans"], None)
        assert ben.query("rooms:guests", roomId=room) == [{"user": "cyd", "until": until + HOUR}]
        assert ben.mutation("rooms:transfer", roomId=room, user="ben") is None
        assert ben.query("rooms:guests", roomId=room) == [{"user": "cyd", "until": until + HOUR}]
        assert ben.mutation("rooms:transfer", roomId=room, user="ada") is None
        assert (shown(notes), shown(mine), shown(before)) == (None, [], [])
        ada.mutation("rooms:transfer", roomId=room, user="ben")
        project.advance(hours=1, seconds=GRACE)
        assert (shown(notes), shown(mine), shown(before)) == ([], ["plans"], None)


def test_seats_are_free_as_soon_as_access_has_ended(project: Deployment) -> None:
    room, start = create(project, seats=2), project.now()
    let_in(project, room, "ben", start + HOUR)
    let_in(project, room, "cyd", start + 2 * HOUR)
    with project.fails(data={"code": "FULL"}):
        let_in(project, room, "dan", start + HOUR)
    let_in(project, room, "cyd", start + 3 * HOUR)
    project.advance(hours=1, seconds=GRACE)
    let_in(project, room, "dan", start + 4 * HOUR)
    with project.fails(data={"code": "FULL"}):
        let_in(project, room, "ben", start + 4 * HOUR)
    project.as_user("ada").mutation("rooms:throwOut", roomId=room, user="cyd")
    let_in(project, room, "ben", start + 4 * HOUR)
    empty = create(project, seats=0)
    with project.fails(data={"code": "FULL"}):
        let_in(project, empty, "ben", start + 4 * HOUR)
    project.as_user("ada").mutation("rooms:transfer", roomId=room, user="dan")
    let_in(project, room, "ada", start + 4 * HOUR, owner="dan")
    with project.fails(data={"code": "INVALID"}):
        let_in(project, room, "dan", start + 5 * HOUR, owner="dan")
    with project.fails(data={"code": "INVALID"}):
        let_in(project, empty, "ben", project.now())
    assert project.as_user("dan").query("rooms:guests", roomId=room) == [
        {"user": user, "until": start + 4 * HOUR} for user in ("ada", "ben")
    ]


def test_a_page_is_not_computed_again_for_what_concerns_others(project: Deployment) -> None:
    room, other = create(project), create(project, "ben", "other")
    start = project.now()
    let_in(project, room, "cyd", start + 90 * HOUR)
    with project.as_user("cyd").subscribe("rooms:notes", roomId=room) as live:
        let_in(project, room, "dan", start + HOUR)
        let_in(project, room, "bea", start + HOUR)
        let_in(project, other, "cyd", start + 2 * HOUR, "ben")
        project.as_user("ben").mutation("rooms:addNote", roomId=other, text="elsewhere")
        project.as_user("ada").mutation("rooms:throwOut", roomId=room, user="bea")
        project.advance(hours=12)
        assert live.executions() == 1
        assert live.value == []


def operations(project: Deployment, caller: Caller, room: str, user: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "letIn", {"roomId": room, "user": user, "until": project.now() + HOUR}
    yield "throwOut", {"roomId": room, "user": user}
    yield "addNote", {"roomId": room, "text": "mine now"}
    yield "transfer", {"roomId": room, "user": user}
    yield "close", {"roomId": room}


def test_nobody_without_access_can_tell_whether_a_room_exists(project: Deployment) -> None:
    room, closed = create(project), create(project, name="closed")
    let_in(project, room, "ben", project.now() + HOUR)
    let_in(project, closed, "ben", project.now() + HOUR)
    project.as_user("ada").mutation("rooms:addNote", roomId=closed, text="gone")
    assert project.as_user("ada").mutation("rooms:close", roomId=closed) is None
    callers = {"NOT_FOUND": [project, project.as_user("dan")], "FORBIDDEN": [project.as_user("ben")]}
    for code, several in callers.items():
        for caller in several:
            for name, arguments in operations(project, caller, room, "dan"):
                with project.fails(data={"code": code}):
                    caller.mutation(f"rooms:{name}", arguments)
                with project.fails(data={"code": "NOT_FOUND"}):
                    caller.mutation(f"rooms:{name}", {**arguments, "roomId": closed})
            assert caller.query("rooms:guests", roomId=room) is None
            assert caller.query("rooms:notes", roomId=closed) is None
            assert caller.query("rooms:guests", roomId=closed) is None
    with project.fails(data={"code": "NOT_FOUND"}):
        project.as_user("ada").mutation("rooms:close", roomId=closed)
    with project.fails(data={"code": "NOT_FOUND"}):
        let_in(project, room, "ben", 5, owner="dan")
    with project.fails(data={"code": "FORBIDDEN"}):
        let_in(project, room, "ben", 5, owner="ben")
    assert project.query("rooms:notes", roomId=room) is None
    assert project.as_user("ben").query("rooms:notes", roomId=room) == []
    assert (project.as_user("ben").query("rooms:mine"), project.query("rooms:mine")) == (["plans"], [])
    assert leftovers(project, closed) == []


def leftovers(project: Deployment, room: str) -> list[dict[str, Any]]:
    every = [document for table in project.tables() for document in project.documents(table)]
    return [document for document in every if room in document.values()]


def test_only_users_create_rooms_and_arguments_are_checked(project: Deployment) -> None:
    with project.fails(data={"code": "UNAUTHENTICATED"}):
        project.mutation("rooms:create", name="plans", seats=1)
    ada, room = project.as_user("ada"), create(project)
    good = dict(operations(project, ada, room, "ben"))
    good["create"] = {"name": "plans", "seats": 1}
    for name, arguments in good.items():
        for argument in arguments:
            rest = {key: value for key, value in arguments.items() if key != argument}
            for bad in (rest, {**rest, argument: True}):
                with project.fails("ArgumentValidationError"):
                    ada.mutation(f"rooms:{name}", bad)
    for name in ("notes", "guests"):
        with project.fails("ArgumentValidationError"):
            ada.query(f"rooms:{name}", roomId="nonsense")


class Truth:
    """What should be the case, room by room."""

    def __init__(self) -> None:
        self.owner: dict[str, str] = {}
        self.until: dict[tuple[str, str], float] = {}
        self.notes: dict[str, list[str]] = {}

    def guests(self, room: str, now: float) -> list[dict[str, Any]]:
        found = [(user, until) for (each, user), until in self.until.items() if each == room and until > now]
        return [{"user": user, "until": until} for user, until in sorted(found)]

    def seen(self, room: str, user: str, now: float) -> list[str] | None:
        inside = self.owner[room] == user or self.until.get((room, user), 0) > now
        return self.notes[room] if inside else None


def step(project: Deployment, truth: Truth, chance: random.Random, room: str) -> str:
    """Does something as the owner, on both sides; a text that says what."""
    owner, user = truth.owner[room], chance.choice(USERS)
    caller, kind = project.as_user(owner), chance.choice(["letIn"] * 4 + ["throwOut", "addNote", "transfer", "wait"])
    if kind == "wait":
        project.advance(minutes=chance.choice([30, 60, 120]), seconds=GRACE)
    elif kind == "letIn" and user != owner:
        truth.until[room, user] = until = project.now() + chance.choice([1, 2, 3, 4]) * HOUR / 2
        caller.mutation("rooms:letIn", roomId=room, user=user, until=until)
    elif kind == "throwOut":
        truth.until.pop((room, user), None)
        caller.mutation("rooms:throwOut", roomId=room, user=user)
    elif kind == "addNote":
        truth.notes[room].append(user)
        caller.mutation("rooms:addNote", roomId=room, text=user)
    elif kind == "transfer":
        truth.owner[room] = user
        truth.until.pop((room, user), None)
        caller.mutation("rooms:transfer", roomId=room, user=user)
    return f"{kind} {user}"


@pytest.mark.parametrize("seed", range(4))
def test_open_pages_always_show_the_truth(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    names: dict[str, str] = {}
    for name in ("plans", "books"):
        room = create(project, name=name)
        names[room] = name
        truth.owner[room], truth.notes[room] = "ada", []
    with ExitStack() as stack:
        pages: dict[tuple[str, str], LiveQuery] = {}
        for user in USERS:
            [client] = stack.enter_context(project.as_user(user).clients(1))
            pages.update({(room, user): client.subscribe("rooms:notes", roomId=room) for room in truth.owner})
        for _ in range(30):
            room = chance.choice(list(truth.owner))
            done.append(step(project, truth, chance, room))
            received = {key: shown(page) for key, page in pages.items() if key[0] == room}
            expected = {key: truth.seen(*key, project.now()) for key in received}
            assert received == expected, f"after {done}"
            guests = project.as_user(truth.owner[room]).query("rooms:guests", roomId=room)
            assert guests == truth.guests(room, project.now()), f"after {done}"
            for user in USERS:
                seen = [each for each in truth.owner if truth.seen(each, user, project.now()) is not None]
                mine = project.as_user(user).query("rooms:mine")
                assert mine == sorted(names[each] for each in seen), f"{user}, after {done}"
