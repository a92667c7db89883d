"""Events that reach every endpoint in order, one at a time, whatever goes wrong."""

import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, at_once, wait_until

OK, DOWN = Reply.text("ok"), Reply.text("down", 503)
HANG_SECONDS = 300.0
patience = [10.0]
hanging: list[threading.Event] = []
Respond = Callable[[WebRequest], Reply]


class Endpoint:
    """Responds to the first requests as `replies` say, to all others like the last of them."""

    def __init__(self, server: WebServer, path: str, *replies: Reply | Respond) -> None:
        self.received: list[dict[str, str]] = []
        self.replies = replies
        self.url = server.reply("POST", path, self.respond)

    def respond(self, request: WebRequest) -> Reply:
        self.received.append(request.json())
        reply = self.replies[min(len(self.received), len(self.replies)) - 1]
        return reply if isinstance(reply, Reply) else reply(request)

    @property
    def events(self) -> list[str]:
        return [each["event"] for each in self.received]


class Silence:
    """A response that comes when the test says so."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.over = reply, threading.Event()
        hanging.append(self.over)

    def __call__(self, _: WebRequest) -> Reply:
        self.over.wait(HANG_SECONDS)
        return self.reply


@pytest.fixture(autouse=True)
def silences() -> Iterator[None]:
    """Whatever a test leaves hanging ends with it."""
    yield
    while hanging:
        hanging.pop().set()


def wait(condition: Callable[[], object], what: str) -> None:
    """Once something has not come, nothing else gets that much time: the answer is wrong anyway."""
    try:
        wait_until(condition, what, seconds=patience[0])
    except AssertionError:
        patience[0] = 1.0
        raise


def publish(project: Deployment, endpoint: Endpoint, *events: str) -> None:
    assert project.mutation("deliveries:publish", endpoint=endpoint.url, events=events) is None


def resume(project: Deployment, endpoint: Endpoint) -> None:
    assert project.mutation("deliveries:resume", endpoint=endpoint.url) is None


def status(project: Deployment, endpoint: Endpoint) -> tuple[int, int, bool]:
    """Delivered, waiting, paused."""
    found = project.query("deliveries:status", endpoint=endpoint.url)
    assert found.keys() == {"delivered", "waiting", "isPaused"}
    return found["delivered"], found["waiting"], found["isPaused"]


def reaches(endpoint: Endpoint, count: int) -> None:
    wait(lambda: len(endpoint.received) == count, f"request {count} to the endpoint")


def quiet(project: Deployment) -> None:
    """Waits until everything that is due has run, so that nothing is under way when the clock is moved."""
    wait(
        lambda: (
            not [
                job
                for job in project.scheduled()
                if job.state == "inProgress" or (job.state == "pending" and job.scheduled_for <= project.now())
            ]
        ),
        "the end of what is under way",
    )


def killed(project: Deployment) -> Respond:
    def respond(_: WebRequest) -> Reply:
        project.kill_actions()
        return OK

    return respond


def test_events_are_delivered_in_order_and_once(project: Deployment, web_server: WebServer) -> None:
    endpoint = Endpoint(web_server, "/a", OK, Reply.text("", 204), OK)
    assert status(project, endpoint) == (0, 0, False)
    publish(project, endpoint, "c", "a", "b", "a")
    publish(project, endpoint)
    wait(lambda: status(project, endpoint) == (4, 0, False), "the delivery")
    publish(project, endpoint, "z", "y")
    wait(lambda: status(project, endpoint) == (6, 0, False), "the delivery")
    project.advance(minutes=10)
    assert endpoint.events == ["c", "a", "b", "a", "z", "y"]
    assert [each.keys() for each in endpoint.received] == [{"id", "event"}] * 6
    assert len({each["id"] for each in endpoint.received}) == 6


def test_an_event_is_sent_again_after_growing_waits_until_the_endpoint_is_paused(
    project: Deployment, web_server: WebServer
) -> None:
    endpoint = Endpoint(web_server, "/a", DOWN, Reply.text("", 302), Reply.text("", 404), DOWN)
    publish(project, endpoint, "a", "b")
    reaches(endpoint, 1)
    quiet(project)
    start = project.now()
    for moment, count in ((40, 2), (75, 2), (100, 3), (180, 3), (225, 4), (420, 4)):
        # The calls since the start have taken up some of the time.
        project.advance(seconds=max(0.0, moment - (project.now() - start) / 1000))
        assert (len(endpoint.received), status(project, endpoint)) == (count, (0, 2, False)), f"after {moment} s"
    project.advance(seconds=50)
    assert (len(endpoint.received), status(project, endpoint)) == (5, (0, 2, True))
    publish(project, endpoint, "c")
    project.advance(hours=3)
    assert (endpoint.events, status(project, endpoint)) == (["a"] * 5, (0, 3, True))
    assert len({each["id"] for each in endpoint.received}) == 1


def test_a_paused_endpoint_resumes_with_the_same_event(project: Deployment, web_server: WebServer) -> None:
    endpoint = Endpoint(web_server, "/a", *[DOWN] * 7, OK)
    publish(project, endpoint, "a", "b")
    quiet(project)
    project.advance(minutes=10)
    assert (len(endpoint.received), status(project, endpoint)) == (5, (0, 2, True))
    resume(project, endpoint)
    resume(project, endpoint)
    quiet(project)
    assert (len(endpoint.received), status(project, endpoint)) == (6, (0, 2, False))
    project.advance(seconds=35)
    assert len(endpoint.received) == 7
    resume(project, endpoint)
    project.advance(seconds=30)
    assert len(endpoint.received) == 7, "resume concerns paused endpoints only"
    project.advance(seconds=30)
    quiet(project)
    assert status(project, endpoint) == (2, 0, False)
    resume(project, endpoint)
    project.advance(minutes=10)
    assert endpoint.events == ["a"] * 8 + ["b"]


def test_failures_of_one_event_do_not_count_against_the_next(project: Deployment, web_server: WebServer) -> None:
    endpoint = Endpoint(web_server, "/a", DOWN, DOWN, DOWN, OK, DOWN, DOWN, OK)
    publish(project, endpoint, "a", "b", "c")
    quiet(project)
    project.advance(seconds=215)
    assert endpoint.events == ["a"] * 4 + ["b"]
    project.advance(seconds=35)
    assert endpoint.events == ["a"] * 4 + ["b"] * 2
    project.advance(seconds=60)
    assert endpoint.events == ["a"] * 4 + ["b"] * 3 + ["c"]
    assert status(project, endpoint) == (3, 0, False)


def test_endpoints_do_not_wait_for_one_another(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(OK)
    slow, down, fast = (
        Endpoint(web_server, "/slow", silence, OK),
        Endpoint(web_server, "/down", DOWN),
        Endpoint(web_server, "/fast", OK),
    )
    for endpoint in (slow, down, fast):
        publish(project, endpoint, "1", "2", "3")
    wait(lambda: status(project, fast) == (3, 0, False), "the delivery to the fast endpoint")
    reaches(slow, 1)
    publish(project, fast, "4")
    wait(lambda: status(project, fast) == (4, 0, False), "the delivery to the fast endpoint")
    assert (status(project, slow), status(project, down)) == ((0, 3, False), (0, 3, False))
    silence.over.set()
    wait(lambda: status(project, slow) == (3, 0, False), "the delivery to the slow endpoint")
    assert (slow.events, fast.events) == (["1", "2", "3"], ["1", "2", "3", "4"])


def test_what_is_published_in_the_meantime_waits_for_its_turn(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(OK)
    endpoint = Endpoint(web_server, "/a", silence, DOWN, OK)
    publish(project, endpoint, "a")
    reaches(endpoint, 1)
    for event in ("b", "c", "d"):
        publish(project, endpoint, event)
    project.advance(seconds=20)
    assert (endpoint.events, status(project, endpoint)) == (["a"], (0, 4, False))
    silence.over.set()
    reaches(endpoint, 2)
    quiet(project)
    publish(project, endpoint, "e")
    quiet(project)
    assert endpoint.events == ["a", "b"]
    project.advance(seconds=35)
    assert endpoint.events == ["a", "b", "b", "c", "d", "e"]
    project.advance(minutes=5)
    assert (endpoint.events, status(project, endpoint)) == (["a", "b", "b", "c", "d", "e"], (5, 0, False))


def test_a_request_whose_action_is_killed_fails_after_a_minute(project: Deployment, web_server: WebServer) -> None:
    endpoint = Endpoint(web_server, "/a", killed(project), OK)
    publish(project, endpoint, "a", "b")
    reaches(endpoint, 1)
    quiet(project)
    project.advance(seconds=58)
    assert (endpoint.events, status(project, endpoint)) == (["a"], (0, 2, False))
    project.advance(seconds=12)
    assert endpoint.events == ["a"]
    project.advance(seconds=25)
    quiet(project)
    assert (endpoint.events, status(project, endpoint)) == (["a", "a", "b"], (2, 0, False))
    assert endpoint.received[0] == endpoint.received[1]


def test_a_restart_loses_no_event(project: Deployment, web_server: WebServer) -> None:
    silence = Silence(OK)
    endpoint = Endpoint(web_server, "/a", silence, OK)
    publish(project, endpoint, "a", "b")
    reaches(endpoint, 1)
    project.restart()
    silence.over.set()
    quiet(project)
    project.advance(seconds=95)
    quiet(project)
    assert (endpoint.events, status(project, endpoint)) == (["a", "a", "b"], (2, 0, False))


@pytest.mark.parametrize("reply", [OK, DOWN], ids=["success", "failure"])
def test_a_response_after_a_minute_is_ignored(project: Deployment, web_server: WebServer, reply: Reply) -> None:
    late = Silence(reply)

    def second(_: WebRequest) -> Reply:
        """Comes when the action of the first request has ended as well."""
        late.over.set()
        wait(lambda: [job.state for job in project.scheduled()].count("inProgress") <= 1, "the end of the first")
        return OK

    endpoint = Endpoint(web_server, "/a", late, second, OK)
    publish(project, endpoint, "a", "b", "c")
    reaches(endpoint, 1)
    project.advance(seconds=70)
    assert endpoint.events == ["a"]
    project.advance(seconds=25)
    wait(lambda: status(project, endpoint) == (3, 0, False), "the delivery")
    project.advance(minutes=5)
    assert (endpoint.events, status(project, endpoint)) == (["a", "a", "b", "c"], (3, 0, False))


def test_many_clients_publish_at_once(project: Deployment, web_server: WebServer) -> None:
    endpoint = Endpoint(web_server, "/a", OK)
    with project.clients(6) as clients:
        calls = [
            partial(client.mutation, "deliveries:publish", endpoint=endpoint.url, events=[f"{n}a", f"{n}b"])
            for n, client in enumerate(clients)
        ]
        at_once(calls)
    wait(lambda: status(project, endpoint) == (12, 0, False), "the delivery")
    project.advance(minutes=3)
    assert sorted(endpoint.events) == sorted(f"{number}{letter}" for number in range(6) for letter in "ab")
    for number in range(6):
        assert endpoint.events.index(f"{number}a") < endpoint.events.index(f"{number}b")


@pytest.mark.parametrize("seed", range(2))
def test_whatever_fails_every_event_arrives_in_order(project: Deployment, web_server: WebServer, seed: int) -> None:
    chance = random.Random(seed)
    replies: list[Reply | Respond] = [chance.choice([OK, OK, DOWN, killed(project)]) for _ in range(9)]
    endpoint, published = Endpoint(web_server, "/a", *replies, OK), []
    for number in range(6):
        events = [f"{number}.{each}" for each in range(chance.randrange(3))]
        published += events
        publish(project, endpoint, *events)
        quiet(project)
        project.advance(seconds=chance.choice([2, 30, 70]))
    for _ in range(2):
        project.advance(minutes=15)
        resume(project, endpoint)
        quiet(project)
    project.advance(minutes=15)
    assert status(project, endpoint) == (len(published), 0, False)
    expected, position = [], 0
    for reply in [*replies, *[OK] * len(published)]:
        if position == len(published):
            break
        expected.append(published[position])
        position += 1 if reply is OK else 0
    assert endpoint.events == expected


def test_the_status_is_known_without_counting(project: Deployment, web_server: WebServer) -> None:
    endpoint = Endpoint(web_server, "/a", DOWN)
    publish(project, endpoint, *[str(number) for number in range(15)])
    for number in range(12):
        publish(project, Endpoint(web_server, f"/other-{number}", OK), "1")
    reaches(endpoint, 1)
    quiet(project)
    with project.trace() as work:
        status(project, endpoint)
    assert work.documents_read <= 10


def test_clients_can_call_three_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {
        "deliveries:publish": "mutation",
        "deliveries:resume": "mutation",
        "deliveries:status": "query",
    }
    wrong: list[dict[str, Any]] = [{"endpoint": 1, "events": []}, {"endpoint": "", "events": "a"}]
    for arguments in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation("deliveries:publish", arguments)
    with project.fails("ArgumentValidationError"):
        project.mutation("deliveries:resume", endpoint=1)
    with project.fails("ArgumentValidationError"):
        project.query("deliveries:status", endpoint=1)
    assert project.mutation("deliveries:resume", endpoint="http://localhost/never") is None
