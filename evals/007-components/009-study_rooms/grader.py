"""People in rooms, as the presence component knows them: tabs, time-outs, tokens and moods."""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment, at_once

FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "rooms:open": ("mutation", {"room": "r"}),
    "rooms:beat": ("mutation", {"room": "r", "tab": "t"}),
    "rooms:people": ("query", {"roomToken": "t"}),
    "rooms:setMood": ("mutation", {"room": "r", "mood": "m"}),
    "rooms:leave": ("mutation", {"sessionToken": "t"}),
    "rooms:roomsOf": ("query", {"user": "u"}),
    "rooms:dismiss": ("mutation", {"room": "r", "user": "u"}),
    "rooms:close": ("mutation", {"room": "r"}),
}
SIGNED_IN = ("open", "beat", "setMood", "dismiss", "close")


@pytest.fixture(autouse=True)
def stopped_clock(project: Deployment) -> Iterator[None]:
    """Seconds count here, and must not depend on how long the calls take."""
    with project.stopped_clock():
        yield


def beat(project: Deployment, user: str, room: str, tab: str = "tab") -> tuple[str, str]:
    """The tokens of the room and of the session."""
    received = project.as_user(user).mutation("rooms:beat", room=room, tab=tab)
    assert set(received) == {"roomToken", "sessionToken"}
    return received["roomToken"], received["sessionToken"]


def opened(project: Deployment, *rooms: str) -> Caller:
    host = project.as_user("host")
    for room in rooms:
        assert host.mutation("rooms:open", room=room) is None
    return host


def people(project: Deployment, token: str) -> list[dict[str, Any]]:
    received: list[dict[str, Any]] = project.query("rooms:people", roomToken=token)
    for person in received:
        assert set(person) == {"user", "online", "awaySince", "mood"}
        assert (person["awaySince"] is None) == person["online"]
    return received


def states(project: Deployment, token: str) -> dict[str, bool]:
    return {person["user"]: person["online"] for person in people(project, token)}


def rooms_of(project: Deployment, user: str) -> list[str]:
    received: list[str] = project.query("rooms:roomsOf", user=user)
    return received


def test_a_tab_that_is_not_heard_of_for_fifty_seconds_is_gone(project: Deployment) -> None:
    opened(project, "algebra")
    token, _ = beat(project, "ada", "algebra")
    beat(project, "ben", "algebra")
    for _ in range(4):
        project.advance(seconds=20)
        beat(project, "ada", "algebra")
        assert states(project, token)["ada"]
    assert states(project, token) == {"ada": True, "ben": False}
    start = project.now()
    beat(project, "ben", "algebra")
    project.advance(seconds=46)
    assert states(project, token) == {"ada": True, "ben": True}
    assert rooms_of(project, "ben") == ["algebra"]
    project.advance(seconds=9)
    assert states(project, token) == {"ada": False, "ben": False}
    assert rooms_of(project, "ben") == []
    for person in people(project, token):
        assert 48_000 <= person["awaySince"] - start <= 56_000


def test_those_who_subscribe_see_who_comes_and_goes(project: Deployment) -> None:
    opened(project, "algebra")
    token, _ = beat(project, "ada", "algebra")
    with project.subscribe("rooms:people", roomToken=token) as live:
        beat(project, "ben", "algebra")
        live.wait_until(lambda value: {each["user"] for each in value} == {"ada", "ben"})
        project.advance(seconds=40)
        beat(project, "ada", "algebra")
        project.advance(seconds=15)
        live.wait_until(lambda value: [each["user"] for each in value if not each["online"]] == ["ben"])


def test_a_beat_that_changes_nothing_does_not_run_the_query_again(project: Deployment) -> None:
    opened(project, "algebra", "biology")
    token, _ = beat(project, "ada", "algebra")
    beat(project, "ben", "algebra")
    with project.subscribe("rooms:people", roomToken=token) as live:
        for _ in range(3):
            beat(project, "ada", "algebra")
            beat(project, "ben", "algebra")
        beat(project, "ada", "algebra", "another tab")
        beat(project, "cyd", "biology")
        assert live.executions() == 1


def test_a_person_is_online_until_the_last_tab_is_gone(project: Deployment) -> None:
    opened(project, "algebra")
    token, first = beat(project, "ada", "algebra", "phone")
    _, second = beat(project, "ada", "algebra", "laptop")
    assert beat(project, "ada", "algebra", "phone") == (token, first)
    assert first != second
    assert [each["user"] for each in people(project, token)] == ["ada"]
    assert project.mutation("rooms:leave", sessionToken=first) is None
    assert states(project, token) == {"ada": True}
    project.mutation("rooms:leave", sessionToken=first)
    assert states(project, token) == {"ada": True}
    project.advance(seconds=30)
    beat(project, "ada", "algebra", "phone")
    project.advance(seconds=26)
    assert states(project, token) == {"ada": True}
    before = project.now()
    _, again = beat(project, "ada", "algebra", "phone")
    project.mutation("rooms:leave", sessionToken=again)
    [ada] = people(project, token)
    assert not ada["online"]
    assert 0 <= ada["awaySince"] - before <= 10_000
    for unknown in ("", "guess", token):
        assert project.mutation("rooms:leave", sessionToken=unknown) is None


def test_one_tab_can_be_in_many_rooms_and_used_by_many_people(project: Deployment) -> None:
    opened(project, "algebra", "biology", "Chemistry")
    tokens = {room: beat(project, "ada", room) for room in ("Chemistry", "algebra", "biology")}
    assert len({token for pair in tokens.values() for token in pair}) == 6
    assert rooms_of(project, "ada") == ["Chemistry", "algebra", "biology"]
    beat(project, "ben", "algebra")
    project.mutation("rooms:leave", sessionToken=tokens["algebra"][1])
    assert rooms_of(project, "ada") == ["Chemistry", "biology"]
    assert rooms_of(project, "ben") == ["algebra"]
    assert states(project, tokens["algebra"][0]) == {"ada": False, "ben": True}
    opened(project, "a", "a:b", "a-b", "a/b")
    for user, room, tab in (("x", "a", "b:c"), ("x", "a:b", "c"), ("x:a", "a", "c"), ("x", "a", "a:c")):
        beat(project, user, room, tab)
    for room, user, tab in (("a", "b-c", "d"), ("a-b", "c", "d"), ("a/b", "c", "d"), ("a", "b/c", "d")):
        beat(project, user, room, tab)
    assert rooms_of(project, "x") == ["a", "a:b"]
    assert rooms_of(project, "c") == ["a-b", "a/b"]


def test_those_who_went_away_last_come_first_after_those_who_are_online(project: Deployment) -> None:
    opened(project, "algebra")
    sessions = {user: beat(project, user, "algebra") for user in ("ada", "ben", "cyd", "dot", "eve")}
    token = sessions["ada"][0]
    assert {pair[0] for pair in sessions.values()} == {token}
    for user in ("dot", "ben", "eve"):
        project.advance(seconds=1)
        project.mutation("rooms:leave", sessionToken=sessions[user][1])
    received = people(project, token)
    assert sorted(each["user"] for each in received[:2]) == ["ada", "cyd"]
    assert [each["user"] for each in received[2:]] == ["eve", "ben", "dot"]
    beat(project, "dot", "algebra")
    assert [each["user"] for each in people(project, token)][3:] == ["eve", "ben"]


def test_everyone_in_a_full_room_is_listed(project: Deployment) -> None:
    opened(project, "hall")
    token = ""
    for number in range(112):
        token, session = beat(project, f"user {number:03}", "hall")
        if number < 5:
            project.mutation("rooms:leave", sessionToken=session)
    assert [each["online"] for each in people(project, token)] == [True] * 107 + [False] * 5


def test_all_rooms_of_busy_people_are_listed(project: Deployment) -> None:
    names = [f"room {number:03}" for number in range(108)]
    opened(project, *names)
    for name in reversed(names):
        beat(project, "busy", name)
    assert rooms_of(project, "busy") == names
    with project.trace() as work:
        beat(project, "new", names[-1])
    assert work.documents_read <= 30, "the number of rooms does not matter"
    assert project.as_user("busy").mutation("rooms:setMood", room=names[-1], mood="tired") is None


def test_a_mood_belongs_to_a_person_in_a_room_and_stays(project: Deployment) -> None:
    opened(project, "algebra", "biology")
    ada = project.as_user("ada")
    for room in ("algebra", "biology"):
        with project.fails(data={"code": "NOT_IN_ROOM"}):
            ada.mutation("rooms:setMood", room=room, mood="glad")
    token, session = beat(project, "ada", "algebra")
    other, _ = beat(project, "ada", "biology")
    beat(project, "ben", "algebra")
    with project.subscribe("rooms:people", roomToken=token) as live:
        assert ada.mutation("rooms:setMood", room="algebra", mood="glad") is None
        live.wait_until(lambda value: {each["user"]: each["mood"] for each in value} == {"ada": "glad", "ben": None})
    assert [each["mood"] for each in people(project, other)] == [None]
    project.mutation("rooms:leave", sessionToken=session)
    moods = {each["user"]: (each["online"], each["mood"]) for each in people(project, token)}
    assert moods == {"ada": (False, "glad"), "ben": (True, None)}
    ada.mutation("rooms:setMood", room="algebra", mood="")
    beat(project, "ada", "algebra")
    assert {each["user"]: each["mood"] for each in people(project, token)} == {"ada": "", "ben": None}
    ada.mutation("rooms:setMood", room="algebra", mood=None)
    assert [each["mood"] for each in people(project, token)] == [None, None]


def test_a_host_can_dismiss_people_who_can_come_back(project: Deployment) -> None:
    host = opened(project, "algebra")
    token, session = beat(project, "ada", "algebra", "phone")
    beat(project, "ada", "algebra", "laptop")
    beat(project, "ben", "algebra")
    project.as_user("ada").mutation("rooms:setMood", room="algebra", mood="glad")
    for user in ("ada", "ben"):
        with project.fails(data={"code": "NOT_HOST"}):
            project.as_user(user).mutation("rooms:dismiss", room="algebra", user="ada")
    assert host.mutation("rooms:dismiss", room="algebra", user="ada") is None
    assert states(project, token) == {"ben": True}
    assert rooms_of(project, "ada") == []
    with project.fails(data={"code": "NOT_IN_ROOM"}):
        project.as_user("ada").mutation("rooms:setMood", room="algebra", mood="sad")
    project.mutation("rooms:leave", sessionToken=session)
    assert host.mutation("rooms:dismiss", room="algebra", user="nobody") is None
    again, _ = beat(project, "ada", "algebra", "laptop")
    assert again == token
    assert {each["user"]: each["mood"] for each in people(project, token)} == {"ada": None, "ben": None}
    project.advance(seconds=56)
    assert states(project, token) == {"ada": False, "ben": False}


def test_a_closed_room_is_gone_with_everything_in_it(project: Deployment) -> None:
    host = opened(project, "algebra", "biology")
    token, session = beat(project, "ada", "algebra")
    other, _ = beat(project, "ada", "biology")
    with project.fails(data={"code": "NOT_HOST"}):
        project.as_user("ada").mutation("rooms:close", room="algebra")
    assert host.mutation("rooms:close", room="algebra") is None
    assert people(project, token) == []
    assert rooms_of(project, "ada") == ["biology"]
    for path, arguments in (
        ("beat", {"tab": "tab"}),
        ("setMood", {"mood": "m"}),
        ("dismiss", {"user": "ada"}),
        ("close", {}),
    ):
        with project.fails(data={"code": "NO_ROOM"}):
            host.mutation(f"rooms:{path}", room="algebra", **arguments)
    assert project.as_user("ben").mutation("rooms:open", room="algebra") is None
    fresh, _ = beat(project, "cyd", "algebra")
    assert fresh != token
    assert people(project, token) == []
    assert states(project, fresh) == {"cyd": True}
    project.mutation("rooms:leave", sessionToken=session)
    with project.fails(data={"code": "NOT_HOST"}):
        host.mutation("rooms:close", room="algebra")
    assert states(project, other) == {"ada": True}


def test_a_name_can_be_taken_once(project: Deployment) -> None:
    opened(project, "algebra")
    with project.fails(data={"code": "TAKEN"}):
        project.as_user("host").mutation("rooms:open", room="algebra")
    with project.as_user("ada").clients(4) as clients:
        made = at_once([partial(each.mutation, "rooms:open", room="biology") for each in clients])
    assert sorted(str(getattr(each, "data", None)) for each in made) == ["None"] + [str({"code": "TAKEN"})] * 3


@pytest.mark.parametrize("seed", range(2))
def test_whatever_tabs_do_the_lists_are_right(project: Deployment, seed: int) -> None:
    chance, rooms, users, tabs = random.Random(seed), ["algebra", "biology"], ["ada", "ben", "cyd"], ["t1", "t2"]
    opened(project, *rooms)
    tokens: dict[str, str] = {}
    last: dict[tuple[str, str, str], tuple[int, str]] = {}
    known: set[tuple[str, str]] = set()
    clock, done = 0, []
    for _ in range(40):
        step = chance.random()
        if step < 0.6:
            key = chance.choice(rooms), chance.choice(users), chance.choice(tabs)
            tokens[key[0]], session = beat(project, key[1], key[0], key[2])
            last[key] = clock, session
            known.add(key[:2])
            done.append(f"beat {key}")
        elif step < 0.75 and last:
            key = chance.choice(sorted(last))
            project.mutation("rooms:leave", sessionToken=last.pop(key)[1])
            done.append(f"leave {key}")
        else:
            seconds = chance.choice([10, 20, 30])
            project.advance(seconds=seconds)
            clock += seconds
            while any(45 <= clock - at <= 55 for at, _ in last.values()):
                project.advance(seconds=7)
                clock += 7
            done.append(f"until {clock}")
        last = {key: value for key, value in last.items() if clock - value[0] < 50}
        for room, token in tokens.items():
            expected = {
                user: any((room, user, tab) in last for tab in tabs) for known_in, user in known if known_in == room
            }
            assert states(project, token) == expected, f"after {done}"
        for user in users:
            online = sorted({key[0] for key in last if key[1] == user})
            assert rooms_of(project, user) == online, f"after {done}"


def test_the_component_knows_who_is_where(project: Deployment) -> None:
    opened(project, "algebra")
    beat(project, "ada", "algebra")
    [row] = project.documents("presence", component="presence")
    assert (row["userId"], row["online"]) == ("ada", True)
    assert len(project.documents("sessions", component="presence")) == 1
    stored = {table: len(project.documents(table)) for table in project.tables()}
    assert sum(stored.values()) == 1, f"the app stores {stored}"


def test_who_is_signed_out_can_only_look_and_leave(project: Deployment) -> None:
    opened(project, "r")
    for path in SIGNED_IN:
        _, arguments = FUNCTIONS[f"rooms:{path}"]
        with project.fails(data={"code": "SIGNED_OUT"}):
            project.mutation(f"rooms:{path}", arguments)
    assert people(project, "guess") == people(project, "") == []
    assert rooms_of(project, "nobody") == []


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    for name, (kind, arguments) in FUNCTIONS.items():
        call = project.query if kind == "query" else project.mutation
        for argument in arguments:
            for rejected in ({**arguments, argument: 1}, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(name, rejected)
