"""A feed that followers can rely on while writers append to it: no gaps, and no writer waits for another."""

import random
import threading
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, at_once

LONG = 800  # an append of so many changes takes long enough for others to overtake it
MOST_POLLS = 60
MOST_CHANGES, LARGEST_PAGE, LONGEST_TEXT = 2000, 1000, 200
Pair = tuple[str, str]


def batch(name: str, size: int) -> list[dict[str, str]]:
    return [{"key": name, "value": str(number)} for number in range(size)]


def pairs(name: str, size: int) -> list[Pair]:
    return [(name, str(number)) for number in range(size)]


def append(project: Deployment, name: str, size: int = 1, topic: str = "news") -> None:
    assert project.mutation("feed:append", topic=topic, changes=batch(name, size)) is None


class Follower:
    """Polls, and keeps everything it got."""

    def __init__(self, project: Deployment, topic: str = "news") -> None:
        self.project, self.topic = project, topic
        self.cursor: str | None = None
        self.received: list[Pair] = []

    def poll(self, limit: int = 1000) -> list[Pair]:
        page = self.project.query("feed:poll", topic=self.topic, cursor=self.cursor, limit=limit)
        assert page.keys() == {"changes", "cursor"}
        assert all(change.keys() == {"key", "value"} for change in page["changes"])
        got = [(change["key"], change["value"]) for change in page["changes"]]
        assert len(got) <= limit
        if got:
            assert isinstance(page["cursor"], str) and len(page["cursor"]) <= 100
        else:
            assert page["cursor"] == self.cursor
        self.cursor = page["cursor"]
        self.received += got
        return got

    def catch_up(self, limit: int = 1000) -> list[Pair]:
        for _ in range(MOST_POLLS):
            if not self.poll(limit):
                return self.received
        raise AssertionError(f"the feed has no end: there were changes in each of {MOST_POLLS} polls")


def whole_feed(project: Deployment, topic: str = "news") -> list[Pair]:
    return Follower(project, topic).catch_up()


def test_changes_come_in_their_order_and_pages_may_end_anywhere(project: Deployment) -> None:
    assert project.query("feed:poll", topic="news", cursor=None, limit=5) == {"changes": [], "cursor": None}
    append(project, "none", 0)
    assert whole_feed(project) == []
    expected: list[Pair] = []
    for number, size in enumerate((3, 1, 12, 0, 1, 5)):
        append(project, f"batch {number}", size)
        append(project, f"other {number}", 2, topic="sport")
        expected += pairs(f"batch {number}", size)
    for limit in (1, 3, 4, 22, 23):
        assert Follower(project).catch_up(limit) == expected, f"with limit {limit}"
    assert whole_feed(project, "sport") == [pair for n in range(6) for pair in pairs(f"other {n}", 2)]
    assert whole_feed(project, "nothing") == []


def test_a_page_has_as_many_changes_as_it_may(project: Deployment) -> None:
    for number in range(6):
        append(project, str(number), 3)
    follower = Follower(project)
    assert [len(follower.poll(limit)) for limit in (1, 4, 5, 2, 3, 100)] == [1, 4, 5, 2, 3, 3]


def test_the_longest_append_comes_in_the_largest_pages(project: Deployment) -> None:
    texts = [f"{number} ".ljust(LONGEST_TEXT, "x") for number in range(MOST_CHANGES)]
    cuts = [(0, 50, 100, LONGEST_TEXT)[number % 4] for number in range(MOST_CHANGES)]
    expected = [(text[:cut], text[cut:]) for text, cut in zip(texts, cuts, strict=True)]
    changes = [{"key": key, "value": value} for key, value in expected]
    for topic in ("news", "sport"):
        assert project.mutation("feed:append", topic=topic, changes=changes) is None
    append(project, "last")
    follower = Follower(project)
    assert [len(follower.poll(LARGEST_PAGE)) for _ in range(4)] == [LARGEST_PAGE, LARGEST_PAGE, 1, 0]
    different = [number for number in range(MOST_CHANGES) if follower.received[number] != expected[number]]
    assert different[:3] == [], f"{len(different)} changes are different, or in another place"
    assert follower.received[-1] == ("last", "0")
    with project.trace() as work:
        Follower(project).poll(LARGEST_PAGE)
    assert work.documents_read <= LARGEST_PAGE + 1


def test_changes_are_there_when_append_returns(project: Deployment) -> None:
    follower = Follower(project)
    for number in range(15):
        append(project, str(number), 2)
        assert follower.poll() == pairs(str(number), 2)
    assert project.scheduled() == []
    assert project.crons() == {}


def test_a_cursor_stays_valid(project: Deployment) -> None:
    append(project, "a", 4)
    follower = Follower(project)
    follower.poll(2)
    old = follower.cursor
    assert follower.poll(1) == [("a", "2")]
    append(project, "b", 2)
    follower.catch_up()
    project.advance(days=400)
    append(project, "c", 1)
    follower.cursor = old
    assert follower.poll(3) == [("a", "2"), ("a", "3"), ("b", "0")]
    assert follower.poll() == [("b", "1"), ("c", "0")]


def test_an_append_that_commits_late_is_not_missed(project: Deployment) -> None:
    """A long append begins; until it ends, short ones begin and end, and a follower polls after each of them."""
    append(project, "first")
    late = threading.Thread(target=append, args=(project, "long", LONG))
    follower = Follower(project)
    late.start()
    overtaking = 0
    while late.is_alive() or overtaking < 5:
        append(project, f"short {overtaking}")
        follower.poll()
        overtaking += 1
    late.join()
    append(project, "last")
    received = follower.catch_up()
    expected = {
        *pairs("first", 1),
        *pairs("long", LONG),
        *(pair for n in range(overtaking) for pair in pairs(f"short {n}", 1)),
    }
    missing = sorted((expected | {("last", "0")}) - set(received))
    assert missing[:3] == [], f"{len(missing)} changes were never received"
    assert len(received) == len(expected) + 1
    assert_order(received, {"long": LONG})
    shorts = [key for key, _ in received if key.startswith("short")]
    assert shorts == [f"short {n}" for n in range(overtaking)]
    assert (received[0], received[-1]) == (("first", "0"), ("last", "0"))
    assert whole_feed(project) == received


def assert_order(received: list[Pair], sizes: dict[str, int]) -> None:
    """The changes of one append stand together, in their order."""
    runs = [(key, [value for _, value in run]) for key, run in groupby(received, key=lambda pair: pair[0])]
    for name, size in sizes.items():
        assert [values for key, values in runs if key == name] == [[str(n) for n in range(size)]], name


def test_writers_are_never_executed_twice(project: Deployment) -> None:
    for topics in (["news"] * 6, [f"topic {n}" for n in range(6)]):
        with project.trace() as work, project.overlapping(6):
            at_once([partial(append, project, f"w{n}", 100, topic) for n, topic in enumerate(topics)])
        executed = [call.function for call in work.calls]
        assert executed == ["feed:append"] * 6, f"6 appends at the same time were executed {len(executed)} times"
    received = whole_feed(project)
    assert len(received) == 6 * 100
    assert_order(received, {f"w{n}": 100 for n in range(6)})


def test_an_append_that_began_earlier_and_commits_later_is_not_missed(project: Deployment) -> None:
    follower = Follower(project)
    shorts = [f"short {number}" for number in range(4)]
    with project.trace() as work, project.late_commit("feed:append", topic="news", changes=batch("late", 3)):
        project.advance(seconds=1)
        for short in shorts:
            append(project, short)
            assert follower.poll() == pairs(short, 1)
    executed = [call.function for call in work.calls if call.kind == "mutation"]
    assert executed == ["feed:append"] * 5, f"5 appends were executed {len(executed)} times"
    append(project, "last")
    assert follower.poll() == [*pairs("late", 3), *pairs("last", 1)]
    assert whole_feed(project) == follower.received


def test_polls_get_in_nobodys_way(project: Deployment) -> None:
    """Writers and followers of one topic, all at the same time; limits and sizes are random."""
    chance = random.Random(3)
    sizes = {f"w{n} {m}": chance.choice([1, 2, 5, 20, 80]) for n in range(3) for m in range(5)}
    followers = [Follower(project) for _ in range(2)]
    writing = [3]

    def write(writer: int) -> None:
        for number in range(5):
            append(project, f"w{writer} {number}", sizes[f"w{writer} {number}"])
        writing[0] -= 1

    def follow(follower: Follower, limits: Iterator[int]) -> None:
        while writing[0] > 0:
            follower.poll(next(limits))

    choices = [iter(lambda: chance.choice([1, 7, 50, 500]), None) for _ in followers]
    at_once([*(partial(write, n) for n in range(3)), *map(partial, [follow] * 2, followers, choices)])
    expected = whole_feed(project)
    assert sorted(expected) == sorted(pair for name, size in sizes.items() for pair in pairs(name, size))
    assert_order(expected, sizes)
    firsts = [key for key, value in expected if value == "0"]
    for writer in range(3):
        assert [key for key in firsts if key.startswith(f"w{writer} ")] == [f"w{writer} {n}" for n in range(5)]
    for follower in followers:
        assert follower.catch_up() == expected


def test_a_poll_reads_no_more_than_it_returns_and_one(project: Deployment) -> None:
    for number in range(7):
        append(project, str(number), 10)
        append(project, str(number), 10, topic="sport")
    follower = Follower(project)
    for _ in range(11):
        with project.trace() as work:
            follower.poll(7)
        assert work.documents_read <= 8
    assert len(follower.received) == 70
    append(project, "new", 20)
    with project.trace() as work:
        assert follower.poll(20) == pairs("new", 20)
    assert work.documents_read <= 21


def test_a_follower_can_subscribe(project: Deployment) -> None:
    append(project, "old", 3)
    follower = Follower(project)
    follower.poll()
    with project.subscribe("feed:poll", topic="news", cursor=follower.cursor, limit=10) as live:
        assert live.value["changes"] == []
        append(project, "new", 2)
        assert live.wait_until(lambda page: page["changes"])["changes"] == batch("new", 2)


def test_clients_can_call_two_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"feed:append": "mutation", "feed:poll": "query"}
    wrong_appends: list[dict[str, Any]] = [
        {"topic": 1},
        {"changes": "x"},
        {"changes": [{"key": "a"}]},
        {"changes": [{"value": "a"}]},
        {"changes": [{"key": 1, "value": "a"}]},
        {"changes": [{"key": "a", "value": 1}]},
        {"changes": [{"key": "a", "value": "a", "more": 1}]},
    ]
    for each in wrong_appends:
        with project.fails("ArgumentValidationError"):
            project.mutation("feed:append", {"topic": "news", "changes": []} | each)
    for each in ({"topic": 1}, {"cursor": 1}, {"limit": "1"}):
        with project.fails("ArgumentValidationError"):
            project.query("feed:poll", {"topic": "news", "cursor": None, "limit": 1} | each)
    for missing in ("topic", "changes"):
        right = {"topic": "news", "changes": []}
        del right[missing]
        with project.fails("ArgumentValidationError"):
            project.mutation("feed:append", right)
    for missing in ("topic", "cursor", "limit"):
        asked = {"topic": "news", "cursor": None, "limit": 1}
        del asked[missing]
        with project.fails("ArgumentValidationError"):
            project.query("feed:poll", asked)
    assert whole_feed(project) == []
