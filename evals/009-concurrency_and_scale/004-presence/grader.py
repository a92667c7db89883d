"""Who is online: heartbeats that disturb nobody, and an end that everybody sees."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment

ONLINE_MS = 30_000
SLACK_MS = 5_000
ROOMS, USERS = ["hall", "bar"], ["cem", "ada", "ben", "dan"]


@pytest.fixture(autouse=True)
def stopped_clock(project: Deployment) -> Iterator[None]:
    """Seconds count here, and must not depend on how long the calls take."""
    with project.stopped_clock():
        yield


def beat(project: Deployment, user: str, room: str = "hall") -> None:
    assert project.mutation("presence:heartbeat", room=room, user=user) is None


def leave(project: Deployment, user: str, room: str = "hall") -> None:
    assert project.mutation("presence:leave", room=room, user=user) is None


def online(project: Deployment, room: str = "hall") -> Any:
    return project.query("presence:online", room=room)


def rooms(project: Deployment, user: str) -> Any:
    return project.query("presence:rooms", user=user)


def peak(project: Deployment, room: str = "hall") -> Any:
    return project.query("presence:peak", room=room)


def pending(project: Deployment) -> int:
    return len([job for job in project.scheduled() if job.state == "pending"])


def test_users_come_online_with_a_heartbeat_and_go_when_they_leave(project: Deployment) -> None:
    leave(project, "ada")
    assert (online(project), rooms(project, "ada"), peak(project)) == ([], [], 0)
    assert project.query("presence:lastHeartbeat", room="hall", user="ada") is None
    for user in ("cem", "ada", "cem", "ben"):
        beat(project, user)
    beat(project, "ada", "bar")
    assert (online(project), online(project, "bar")) == (["cem", "ada", "ben"], ["ada"])
    assert (rooms(project, "ada"), rooms(project, "ben")) == (["bar", "hall"], ["hall"])
    leave(project, "cem")
    leave(project, "cem")
    leave(project, "ben", "bar")
    assert online(project) == ["ada", "ben"]
    beat(project, "cem")
    assert (online(project), online(project, "bar")) == (["ada", "ben", "cem"], ["ada"])
    assert (peak(project), peak(project, "bar")) == (3, 1)


def test_the_last_heartbeat_is_remembered(project: Deployment) -> None:
    start = project.now()
    beat(project, "ada")
    project.advance(seconds=100)
    assert start <= project.query("presence:lastHeartbeat", room="hall", user="ada") <= start + 50_000
    beat(project, "ada", "bar")
    assert project.query("presence:lastHeartbeat", room="hall", user="ada") <= start + 50_000
    beat(project, "ada")
    assert start + 100_000 <= project.query("presence:lastHeartbeat", room="hall", user="ada") <= project.now()
    leave(project, "ada")
    assert project.query("presence:lastHeartbeat", room="hall", user="ada") >= start + 100_000


def test_users_go_offline_30_seconds_after_their_last_heartbeat(project: Deployment) -> None:
    beat(project, "ada")
    beat(project, "ben")
    project.advance(seconds=20)
    beat(project, "ada")
    assert online(project) == ["ada", "ben"]
    project.advance(seconds=13)
    assert online(project) == ["ada"]
    project.advance(seconds=11)
    assert online(project) == ["ada"]
    project.advance(seconds=7)
    assert (online(project), rooms(project, "ada")) == ([], [])
    beat(project, "ada")
    assert online(project) == ["ada"]
    project.advance(seconds=31)
    assert online(project) == []


def test_an_earlier_stay_does_not_end_a_later_one(project: Deployment) -> None:
    beat(project, "ada")
    project.advance(seconds=15)
    leave(project, "ada")
    beat(project, "ada")
    project.advance(seconds=20)
    assert online(project) == ["ada"]
    project.advance(seconds=12)
    assert online(project) == []


def test_those_who_watch_see_users_go_offline(project: Deployment) -> None:
    beat(project, "ada")
    project.advance(seconds=10)
    beat(project, "ada")
    beat(project, "ben")
    with project.subscribe("presence:online", room="hall") as live:
        assert live.value == ["ada", "ben"]
        project.advance(seconds=31)
        live.wait_until(lambda users: users == [])
    beat(project, "ada")
    with project.subscribe("presence:rooms", user="ada") as mine:
        project.advance(seconds=31)
        mine.wait_until(lambda found: found == [])


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("presence:online", {"room": "hall"}),
        ("presence:rooms", {"user": "ada"}),
        ("presence:peak", {"room": "hall"}),
        ("presence:lastHeartbeat", {"room": "hall", "user": "ada"}),
    ],
)
def test_heartbeats_do_not_make_subscribed_queries_run_again(
    project: Deployment, path: str, arguments: dict[str, str]
) -> None:
    for user in USERS:
        beat(project, user)
        beat(project, user, "bar")
    with project.subscribe(path, arguments) as live:
        for _ in range(2):
            for user in USERS:
                if user != "ada" or path != "presence:lastHeartbeat":
                    beat(project, user)
                    beat(project, user, "bar")
        assert live.executions() == 1


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("presence:online", {"room": "hall"}),
        ("presence:rooms", {"user": "zoe"}),
        ("presence:peak", {"room": "hall"}),
    ],
)
def test_what_happens_elsewhere_does_not_make_subscribed_queries_run_again(
    project: Deployment, path: str, arguments: dict[str, str]
) -> None:
    beat(project, "zoe", "hall")
    with project.subscribe(path, arguments) as live:
        for user in USERS:
            beat(project, user, "bar")
        leave(project, "ada", "bar")
        beat(project, "ben", "bar")
        assert live.executions() == 1


def test_few_functions_are_scheduled(project: Deployment) -> None:
    for number in range(14):
        beat(project, "ada")
        assert pending(project) <= 2, f"after {number + 1} heartbeats"
        project.advance(seconds=4)
    assert online(project) == ["ada"]
    for number in range(6):
        leave(project, "ada")
        assert pending(project) <= 2, f"after leaving {number + 1} times"
        beat(project, "ada")
        assert pending(project) <= 2, f"after coming {number + 2} times"
    project.advance(seconds=31)
    assert online(project) == []
    project.advance(minutes=5)
    assert pending(project) <= 2


def test_heartbeats_read_few_documents(project: Deployment) -> None:
    for number in range(25):
        beat(project, f"u{number}")
        beat(project, "ada", f"r{number}")
    for call in (beat, beat, leave, leave):
        with project.trace() as work:
            call(project, "ada")
        assert work.documents_read <= 10


class Truth:
    def __init__(self) -> None:
        self.last: dict[tuple[str, str], float] = {}
        self.members: dict[str, list[str]] = {room: [] for room in ROOMS}
        self.peaks = dict.fromkeys(ROOMS, 0)

    def beat(self, room: str, user: str, now: float) -> None:
        self.last[room, user] = now
        if user not in self.members[room]:
            self.members[room].append(user)
            self.peaks[room] = max(self.peaks[room], len(self.members[room]))

    def leave(self, room: str, user: str) -> None:
        if user in self.members[room]:
            self.members[room].remove(user)

    def pass_until(self, now: float) -> None:
        for (room, user), at in self.last.items():
            if at + ONLINE_MS <= now:
                self.leave(room, user)

    def is_close(self, now: float) -> bool:
        return any(
            abs(self.last[room, user] + ONLINE_MS - now) < SLACK_MS
            for room, users in self.members.items()
            for user in users
        )


def let_time_pass(project: Deployment, truth: Truth, seconds: float) -> None:
    """Does not stop close to the moment at which somebody goes offline."""
    project.advance(seconds=seconds)
    while truth.is_close(project.now()):
        project.advance(seconds=2 * SLACK_MS / 1000)
    truth.pass_until(project.now())


@pytest.mark.parametrize("seed", range(3))
def test_whatever_users_do_the_lists_are_right(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    for _ in range(35):
        step, room, user = (
            chance.choice(["beat", "beat", "beat", "leave", "time"]),
            chance.choice(ROOMS),
            chance.choice(USERS),
        )
        done.append((step, room, user))
        let_time_pass(project, truth, chance.choice([3, 8, 14, 40]) if step == "time" else 0)
        if step == "beat":
            beat(project, user, room)
            truth.beat(room, user, project.now())
        elif step == "leave":
            leave(project, user, room)
            truth.leave(room, user)
        assert online(project, room) == truth.members[room], f"after {done}"
        assert peak(project, room) == truth.peaks[room], f"after {done}"
        assert rooms(project, user) == sorted(each for each in ROOMS if user in truth.members[each]), f"after {done}"


@pytest.mark.parametrize("wrong", [{"room": 1}, {"user": None}, {"more": 1}])
def test_arguments_are_checked(project: Deployment, wrong: dict[str, Any]) -> None:
    for name in ("heartbeat", "leave"):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"presence:{name}", {"room": "hall", "user": "ada"} | wrong)
    with project.fails("ArgumentValidationError"):
        project.query("presence:lastHeartbeat", {"room": "hall", "user": "ada"} | wrong)
    for name in ("online", "peak"):
        with project.fails("ArgumentValidationError"):
            project.query(f"presence:{name}", room=1)
    with project.fails("ArgumentValidationError"):
        project.query("presence:rooms", user=1)
