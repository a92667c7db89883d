"""Checks that are made exactly when they should be, whatever is changed around them."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, at_once, wait_until

CHECK = {"user": "u", "name": "n", "schedule": {"every": 5}, "url": "http://x"}
NAMED = {"user": "u", "name": "n"}
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "checks:set": ("mutation", CHECK),
    "checks:sync": ("mutation", {"user": "u", "checks": []}),
    "checks:remove": ("mutation", NAMED),
    "checks:rename": ("mutation", {**NAMED, "to": "m"}),
    "checks:pause": ("mutation", NAMED),
    "checks:resume": ("mutation", NAMED),
    "checks:list": ("query", {"user": "u"}),
    "checks:results": ("query", NAMED),
}
SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
HOURLY, DAILY = {"every": 3600}, {"cron": "0 6 * * *"}
OK = Reply.text("ok")
hanging: list[threading.Event] = []
Respond = Callable[[WebRequest], Reply]


class Silence:
    """A response that comes when the test says so."""

    def __init__(self, reply: Reply = OK) -> None:
        self.reply, self.over = reply, threading.Event()
        hanging.append(self.over)

    def __call__(self, _: WebRequest) -> Reply:
        self.over.wait(30.0)
        return self.reply


class Service:
    """The project, and the servers of its users. Each responds with its replies in turn, then with its last one."""

    def __init__(self, project: Deployment, server: WebServer) -> None:
        self.project, self.server, self.received = project, server, Counter[str]()

    def address(self, name: str, *replies: Reply | Respond) -> str:
        left = list(replies or [OK])

        def respond(request: WebRequest) -> Reply:
            self.received[name] += 1
            reply = left.pop(0) if len(left) > 1 else left[0]
            return reply if isinstance(reply, Reply) else reply(request)

        return self.server.reply("POST", f"/{name}", respond)

    def set(self, schedule: object, url: str | None = None, *, user: str = "ada", name: str = "site") -> Any:
        address = self.address(name) if url is None else url
        return self.project.mutation("checks:set", user=user, name=name, schedule=schedule, url=address)

    def ask(self, what: str, *, user: str = "ada", name: str = "site", **more: str) -> Any:
        return self.project.mutation(f"checks:{what}", user=user, name=name, **more)

    def sync(self, *checks: tuple[str, object, str], user: str = "ada") -> Any:
        wanted = [{"name": name, "schedule": schedule, "url": url} for name, schedule, url in checks]
        return self.project.mutation("checks:sync", user=user, checks=wanted)

    def list(self, user: str = "ada") -> Any:
        return self.project.query("checks:list", user=user)

    def results(self, name: str = "site", user: str = "ada") -> Any:
        return self.project.query("checks:results", user=user, name=name)

    def times(self, name: str = "site", user: str = "ada") -> Any:
        return [result["at"] for result in self.results(name, user)]

    def jobs(self) -> Any:
        jobs = self.project.documents("crons", component="crons")
        assert all(job["functionHandle"] for job in jobs)
        utc = ("tz", "UTC")  # the same as no time zone
        return [{key: value for key, value in job["schedule"].items() if (key, value) != utc} for job in jobs]

    def advance(self, **time: float) -> None:
        """A request that has just begun gets the time to be recorded."""
        self.project.advance(**time)
        self.project.advance(seconds=0.001)

    def begin_soon(self, name: str, seconds: float) -> None:
        """A request that gets no response must not begin while the clock is moved, which would wait for it."""
        self.project.advance(seconds=seconds)
        wait_until(lambda: self.received[name], "the first request", seconds=15.0)

    def has_results(self, expected: dict[str, int]) -> bool:
        return {name: len(self.results(name)) for name in expected} == expected

    def checked(self, count: int, name: str = "site", user: str = "ada") -> None:
        """So many results there are, now or as soon as a request has ended."""
        wait_until(lambda: len(self.results(name, user)) >= count, f"{count} results of {name}")
        assert len(self.results(name, user)) == count


@pytest.fixture
def service(project: Deployment, web_server: WebServer) -> Iterator[Service]:
    yield Service(project, web_server)
    while hanging:
        hanging.pop().set()


def assert_times(received: Sequence[float], expected: Sequence[float]) -> None:
    """Within a second, and what a call may take on a slow machine."""
    assert len(received) == len(expected)
    late = [one - other for one, other in zip(received, expected, strict=True)]
    assert all(-SECOND <= each <= 5 * SECOND for each in late), f"milliseconds late: {late}"


def test_an_interval_begins_when_it_is_set(service: Service) -> None:
    start = service.project.now()
    assert service.set({"every": 600}) == "created"
    service.advance(minutes=9)
    assert (service.results(), service.received["site"]) == ([], 0)
    service.advance(minutes=2)
    service.checked(1)
    service.advance(minutes=40)
    service.checked(5)
    assert_times(service.times(), [start + 10 * MINUTE * number for number in (5, 4, 3, 2, 1)])
    service.advance(minutes=200)
    service.checked(20)
    assert service.received["site"] == 25
    assert_times(service.times(), [start + 10 * MINUTE * number for number in range(25, 5, -1)])


def test_a_cron_expression_goes_by_its_time_zone(service: Service) -> None:
    zone, now = ZoneInfo("America/New_York"), datetime.fromtimestamp(service.project.now() / 1000, UTC)
    year = now.year if now < datetime(now.year, 3, 1, tzinfo=UTC) else now.year + 1
    service.advance(hours=(datetime(year, 3, 6, 20, tzinfo=UTC) - now) / timedelta(hours=1))
    assert service.set({"cron": "30 9 * * *", "timeZone": "America/New_York"}) == "created"
    assert service.set({"cron": "30 9 * * *"}, name="utc") == "created"
    for _ in range(10):
        service.advance(days=1)
    for name, of in (("site", zone), ("utc", UTC)):
        service.checked(10, name)
        days = [datetime(year, 3, 16, 9, 30) - timedelta(days=number) for number in range(10)]
        assert_times(service.times(name), [day.replace(tzinfo=of).timestamp() * 1000 for day in days])


def test_an_expression_can_begin_with_seconds(service: Service) -> None:
    service.set({"cron": "15 */10 * * * *"})
    start = service.project.now()
    first = (start - 15 * SECOND) // (10 * MINUTE) + 1
    due = [(first + number) * 10 * MINUTE + 15 * SECOND for number in range(4)]
    service.advance(seconds=(due[-1] + 3 * MINUTE - start) / SECOND)
    service.checked(4)
    assert_times(service.times(), due[::-1])


def test_what_the_servers_say_is_recorded(service: Service, web_server: WebServer) -> None:
    service.set(HOURLY, service.address("a", OK, Reply.text("no", 503), Reply.text("gone", 410)))
    service.set(HOURLY, f"{web_server.nobody}/x", name="nobody")
    service.advance(hours=3, minutes=10)
    service.checked(3)
    service.checked(3, "nobody")
    assert [result["status"] for result in service.results()] == [410, 503, 200]
    assert [result["status"] for result in service.results("nobody")] == [0, 0, 0]
    assert all(set(result) == {"at", "status"} for result in service.results())


def test_a_slow_response_holds_up_no_other_request(service: Service) -> None:
    slow = Silence(Reply.text("slow", 202))
    service.set({"every": 6}, service.address("a", slow, OK))
    service.begin_soon("a", 5)
    service.advance(seconds=50)
    assert service.received["a"] >= 8
    service.ask("pause")
    before = len(service.results())
    slow.over.set()
    service.checked(before + 1)
    assert service.results()[-1]["status"] == 202
    assert service.times() == sorted(service.times(), reverse=True)


@pytest.mark.parametrize("what", ["set", "rename", "pause", "remove"])
def test_a_request_under_way_is_recorded_unless_its_check_is_removed(service: Service, what: str) -> None:
    slow = Silence(Reply.text("slow", 202))
    service.set({"every": 6}, service.address("a", slow, OK))
    service.begin_soon("a", 5)
    if what == "set":
        assert service.set(HOURLY, service.address("b")) == "changed"
    else:
        assert service.ask(what, **({"to": "new"} if what == "rename" else {})) is True
    name = "new" if what == "rename" else "site"
    if what == "rename":
        service.ask("pause", name=name)
    before = service.received["a"]
    slow.over.set()
    if what == "remove":
        assert service.set(HOURLY) == "created"
        service.advance(minutes=10)
        assert service.results() == []
    else:
        wait_until(lambda: 202 in [each["status"] for each in service.results(name)], "the result")
    service.advance(minutes=10)
    assert service.received["a"] == before
    assert len(service.jobs()) == (1 if what in ("set", "remove") else 0)


def test_what_does_not_change_the_schedule_does_not_change_its_times(service: Service) -> None:
    schedules = [HOURLY, {"cron": "*/20 * * * *"}, {"cron": "5 * * * *", "timeZone": "Asia/Tokyo"}]
    old, new, start = service.address("old"), service.address("new"), service.project.now()
    for number, schedule in enumerate(schedules):
        assert service.set(schedule, old, name=f"c{number}") == "created"
    service.advance(minutes=40)
    for number, schedule in enumerate(schedules):
        assert service.set(schedule, old, name=f"c{number}") == "unchanged"
    assert service.set(HOURLY, new, name="c0") == "changed"
    assert service.ask("rename", name="c0", to="d") is True
    assert service.results("c0") == []
    synced = [("d", HOURLY, new), ("c1", schedules[1], new), ("c2", schedules[2], old), ("e", DAILY, new)]
    assert service.sync(*synced) == {"created": 1, "changed": 1, "unchanged": 2, "removed": 0}
    before = service.received["new"]
    service.advance(minutes=19)
    assert service.results("d") == []
    service.advance(minutes=2)
    service.checked(1, "d")
    assert_times(service.times("d"), [start + HOUR])
    assert service.received["new"] > before


def test_another_schedule_comes_into_force_at_once(service: Service) -> None:
    service.set(HOURLY)
    service.advance(minutes=50)
    changed = service.project.now()
    assert service.set({"every": 1800}) == "changed"
    service.advance(minutes=25)
    assert service.results() == []
    service.advance(minutes=10)
    service.checked(1)
    assert_times(service.times(), [changed + 30 * MINUTE])
    assert service.set({"cron": "0 * * * *"}) == "changed"
    assert service.set({"cron": "0 * * * *", "timeZone": "Asia/Kolkata"}) == "changed"
    assert service.set({"cron": "0 * * * *", "timeZone": "Asia/Kolkata"}) == "unchanged"
    assert service.jobs() == [{"kind": "cron", "cronspec": "0 * * * *", "tz": "Asia/Kolkata"}]
    service.advance(hours=2)
    assert all(int(at // MINUTE) % 60 == 30 for at in service.times()[:-1])
    assert len(service.times()) in (3, 4)


def test_a_paused_check_rests_and_its_schedule_begins_anew(service: Service) -> None:
    service.set(HOURLY)
    service.advance(minutes=50)
    assert (service.ask("pause"), service.ask("pause")) == (True, False)
    assert (service.jobs(), service.list()[0]["isPaused"]) == ([], True)
    service.advance(hours=3)
    assert service.results() == []
    url = service.address("other")
    assert service.set({"every": 1800}, url) == "changed"
    assert service.set({"every": 1800}, url) == "unchanged"
    assert service.sync(("site", {"every": 1800}, url)) == {"created": 0, "changed": 0, "unchanged": 1, "removed": 0}
    with service.project.fails(data={"code": "BAD_SCHEDULE"}):
        service.set({"cron": "nonsense"}, url)
    assert service.list() == [{"name": "site", "schedule": {"every": 1800}, "url": url, "isPaused": True}]
    assert service.jobs() == []
    service.advance(hours=2)
    resumed = service.project.now()
    assert (service.ask("resume"), service.ask("resume")) == (True, False)
    assert service.list()[0]["isPaused"] is False
    service.advance(minutes=65)
    service.checked(2)
    assert_times(service.times(), [resumed + 60 * MINUTE, resumed + 30 * MINUTE])
    assert service.received == {"other": 2}


def test_a_removed_check_is_gone_and_a_new_one_is_new(service: Service) -> None:
    service.set({"every": 60})
    service.advance(minutes=5, seconds=30)
    service.checked(5)
    assert (service.ask("remove"), service.ask("remove")) == (True, False)
    assert (service.list(), service.results(), service.jobs()) == ([], [], [])
    service.advance(minutes=5)
    assert service.received["site"] == 5
    assert service.set(HOURLY) == "created"
    assert service.results() == []
    assert service.ask("pause") is True
    assert service.ask("remove") is True
    assert [service.ask(what) for what in ("pause", "resume", "remove")] == [False] * 3
    assert service.ask("rename", to="x") is False


def test_names_belong_to_users(service: Service) -> None:
    users = [("a", "b:c"), ("a:b", "c"), ("a", "b/c"), ("a/b", "c"), ("ab", "c"), ("a", "bc"), ("", "x"), ("x", "")]
    for user, name in users:
        assert service.set(HOURLY, service.address("same"), user=user, name=name) == "created"
    assert len(service.jobs()) == len(users)
    assert [check["name"] for check in service.list("a")] == ["b/c", "b:c", "bc"]
    assert service.ask("rename", user="a", name="bc", to="b:c") is False
    assert service.ask("rename", user="a", name="bc", to="bc") is False
    assert service.ask("rename", user="a", name="bc", to="Z") is True
    assert [check["name"] for check in service.list("a")] == ["Z", "b/c", "b:c"]
    assert service.sync(user="a:b") == {"created": 0, "changed": 0, "unchanged": 0, "removed": 1}
    assert service.ask("remove", user="a", name="c") is False
    service.advance(minutes=61)
    service.checked(1, "", "x")
    assert len(service.jobs()) == len(users) - 1
    assert service.received["same"] == len(users) - 1


def test_what_fails_changes_nothing(service: Service) -> None:
    url, other = service.address("url"), service.address("other")
    service.sync(("a", HOURLY, url), ("b", {"cron": "0 0 30 6 *"}, url), ("c", HOURLY, url))
    before, jobs = service.list(), service.project.documents("crons", component="crons")
    wrong: list[object] = [
        {"every": 0},
        {"every": 0.999},
        {"every": -5},
        {"cron": "61 * * * *"},
        {"cron": "* * * * * * *"},
        {"cron": "every day"},
        {"cron": "0 6 * * *", "timeZone": "Europe/Atlantis"},
    ]
    for schedule in wrong:
        for name in ("a", "new"):
            with service.project.fails(data={"code": "BAD_SCHEDULE"}):
                service.set(schedule, other, name=name)
        with service.project.fails(data={"code": "BAD_SCHEDULE"}):
            service.sync(("a", DAILY, other), ("d", HOURLY, url), ("b", schedule, url))
    with service.project.fails(data={"code": "DUPLICATE"}):
        service.sync(("a", DAILY, other), ("d", HOURLY, url), ("d", HOURLY, url))
    assert service.list() == before
    assert service.project.documents("crons", component="crons") == jobs
    service.advance(minutes=61)
    assert (service.received["url"], service.received["other"]) == (2, 0)
    assert service.sync(("c", HOURLY, url), ("a", DAILY, url)) == {
        "created": 0,
        "changed": 1,
        "unchanged": 1,
        "removed": 1,
    }
    assert [(check["name"], check["schedule"]) for check in service.list()] == [("a", DAILY), ("c", HOURLY)]


def test_there_is_one_job_for_each_check(service: Service) -> None:
    schedules: list[Any] = [HOURLY, {"cron": "0 6 * * *"}, {"cron": "0 7 * * 1", "timeZone": "Europe/Berlin"}]
    for number, schedule in enumerate(schedules):
        service.set(schedule, name=f"c{number}")
    wanted = [
        {"kind": "interval", "ms": HOUR},
        {"kind": "cron", "cronspec": "0 6 * * *"},
        {"kind": "cron", "cronspec": "0 7 * * 1", "tz": "Europe/Berlin"},
    ]
    assert service.jobs() == wanted
    with service.project.clients(6) as clients:
        url = service.address("new")
        call = {"user": "ben", "name": "new", "schedule": HOURLY, "url": url}
        made = at_once([partial(each.mutation, "checks:set", call) for each in clients])
        assert Counter(made) == {"created": 1, "unchanged": 5}
        made = at_once([partial(each.mutation, "checks:pause", user="ben", name="new") for each in clients])
        assert Counter(made) == {True: 1, False: 5}
    assert service.jobs() == wanted
    assert service.list() == [
        {"name": f"c{number}", "schedule": schedule, "url": service.address(f"c{number}"), "isPaused": False}
        for number, schedule in enumerate(schedules)
    ]


def test_a_list_is_not_computed_again_when_checks_are_made_or_others_change(service: Service) -> None:
    service.set({"every": 60})
    service.set({"every": 60}, user="ben")
    with service.project.subscribe("checks:list", user="ada") as live:
        service.advance(minutes=5)
        service.set(HOURLY, user="ben")
        service.ask("pause", user="ben")
        service.set(HOURLY, user="zoe")
        assert live.executions() == 1
        service.ask("pause")
        assert live.wait_until(lambda checks: checks[0]["isPaused"])
    assert service.received["site"] >= 5


@dataclass
class Check:
    every: int
    url: str
    due: float | None
    made: int = 0

    def is_uncertain(self, time: float) -> bool:
        """The machine's own time passes as well, so nothing is expected so close to a run."""
        return self.due is not None and (time - self.due + 90 * SECOND) % (self.every * SECOND) < 180 * SECOND

    def run_until(self, time: float) -> int:
        before = self.made
        while self.due is not None and self.due <= time:
            self.due += self.every * SECOND
            self.made += 1
        return self.made - before


class Model:
    """What checks there should be, when they are due, and how many requests have been made."""

    def __init__(self) -> None:
        self.checks, self.requests = dict[str, Check](), Counter[str]()

    def set(self, now: float, name: str, every: int, url: str) -> str:
        check = self.checks.get(name)
        if check is None:
            self.checks[name] = Check(every, url, now + every * SECOND)
            return "created"
        if (check.every, check.url) == (every, url):
            return "unchanged"
        if check.due is not None and check.every != every:
            check.due = now + every * SECOND
        check.every, check.url = every, url
        return "changed"

    def ask(self, now: float, what: str, name: str) -> bool:
        check = self.checks.get(name)
        if check is None or (what != "remove" and (what == "resume") is not (check.due is None)):
            return False
        check.due = now + check.every * SECOND if what == "resume" else None
        if what == "remove":
            del self.checks[name]
        return True

    def rename(self, name: str, to: str) -> bool:
        if name not in self.checks or to in self.checks:
            return False
        self.checks[to] = self.checks.pop(name)
        return True

    def wait(self, now: float, minutes: int) -> float:
        until = now + minutes * MINUTE
        while any(each.is_uncertain(until) for each in self.checks.values()):
            until += 4 * MINUTE
        for each in self.checks.values():
            self.requests[each.url] += each.run_until(until)
        return until


@pytest.mark.parametrize("seed", range(3))
def test_requests_are_made_on_time_after_any_sequence(service: Service, seed: int) -> None:
    chance, done, model = random.Random(seed), list[str](), Model()
    urls = {name: service.address(name) for name in "xyz"}
    for _ in range(30):
        name, every, url = chance.choice("abc"), chance.choice([3600, 5400]), chance.choice("xyz")
        what = chance.choice(["set", "set", "pause", "resume", "rename", "remove", "wait", "wait"])
        to = chance.choice("abcd")
        done.append(f"{what} {name} {every} {url}")
        now = service.project.now()
        if what == "wait":
            until = model.wait(now, chance.choice([13, 29, 47, 83]))
            service.advance(seconds=(until - service.project.now()) / SECOND)
        elif what == "set":
            received = service.set({"every": every}, urls[url], name=name)
            assert received == model.set(now, name, every, url), f"after {done}"
        elif what == "rename":
            assert service.ask("rename", name=name, to=to) is model.rename(name, to), f"after {done}"
        else:
            assert service.ask(what, name=name) is model.ask(now, what, name), f"after {done}"
        assert service.list() == [
            {"name": key, "schedule": {"every": each.every}, "url": urls[each.url], "isPaused": each.due is None}
            for key, each in sorted(model.checks.items())
        ], f"after {done}"
        made = {key: min(20, each.made) for key, each in model.checks.items()}
        wait_until(partial(service.has_results, made), f"the results {made} after {done}")
        assert +service.received == +model.requests, f"after {done}"


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    for name, (kind, arguments) in FUNCTIONS.items():
        for argument in arguments:
            for rejected in (
                {**arguments, argument: 1},
                {**arguments, "more": 1},
                {key: arguments[key] for key in arguments if key != argument},
            ):
                with project.fails("ArgumentValidationError"):
                    calls[kind](name, rejected)
    wrong: list[object] = ["5", {}, {"every": "5"}, {"every": 5, "cron": "* * * * *"}, {"cron": 5}]
    wrong += [{"cron": "* * * * *", "timeZone": 5}, {"every": 5, "timeZone": "Europe/Berlin"}]
    for schedule in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("checks:set", {**CHECK, "schedule": schedule})
        with project.fails("ArgumentValidationError"):
            project.mutation("checks:sync", user="u", checks=[{"name": "n", "schedule": schedule, "url": "x"}])
