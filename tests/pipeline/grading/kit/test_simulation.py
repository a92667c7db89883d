"""Time that graders let pass, and things that they let die."""

import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline.grading.conftest import Deploy
from websockets.sync.client import connect

from convex_evals.core import convex_versions
from convex_evals.pipeline.grading.kit import (
    CallTimedOut,
    Deployment,
    DeploymentLost,
    Reply,
    WebRequest,
    WebServer,
    clean,
    wait_until,
)
from convex_evals.pipeline.grading.kit.transport import Clock, Transport

TIMED = Path(__file__).parents[1] / "timed"
SECOND, HOUR = 1000.0, 3_600_000.0


@pytest.fixture
def project(deploy: Deploy, clock: Clock) -> Deployment:
    graded = deploy(TIMED)
    transport = Transport("project", graded.url, graded.site_url, graded.admin_key, clock)
    clean(transport)
    return Deployment(transport)


@pytest.fixture
def web_server() -> Iterator[WebServer]:
    with WebServer.run() as server:
        yield server


def times(project: Deployment, name: str) -> list[float]:
    return [run["at"] for run in project.documents("runs") if run["name"] == name]


def test_everything_goes_by_the_deployments_time(project: Deployment) -> None:
    before = project.now()
    project.advance(days=2, hours=1)
    after = project.now()
    assert 49 * HOUR <= after - before < 49 * HOUR + 60 * SECOND
    seen = [project.query("jobs:time"), *project.action("jobs:actionTime"), *project.action("node:time")]
    project.mutation("jobs:add", name="stamped")
    seen.append(project.documents("runs")[-1]["_creationTime"])
    assert [moment for moment in seen if not after - SECOND <= moment < after + 60 * SECOND] == []


def test_clients_are_told_how_far_they_are_ahead_of_the_deployments_time(project: Deployment) -> None:
    project.advance(hours=1)
    told = {"sessionId": str(uuid.uuid4()), "connectionCount": 0, "lastCloseReason": "", "clientTs": project.now()}
    address = f"{project.url.replace('http', 'ws', 1)}/api/{convex_versions.DEFAULT}/sync"
    with connect(address) as socket:
        socket.send(json.dumps({"type": "Connect", **told}))
        socket.send(json.dumps({"type": "ModifyQuerySet", "baseVersion": 0, "newVersion": 1, "modifications": []}))
        transition = json.loads(socket.recv(timeout=60))
    assert abs(transition["clientClockSkew"]) < 60 * SECOND


def test_the_time_is_whole_milliseconds_as_functions_see_it(project: Deployment) -> None:
    project.advance(seconds=0.0123456)
    assert [moment for moment in (project.now() for _ in range(20)) if moment != int(moment)] == []


def test_scheduled_functions_run_at_their_times_and_in_order(project: Deployment) -> None:
    start = project.mutation("jobs:later", name="chain", ms=60 * SECOND, times=3)
    project.advance(seconds=59)
    assert times(project, "chain") == []
    project.advance(seconds=2.5)
    assert [round((at - start) / SECOND) for at in times(project, "chain")] == [60, 61]
    project.advance(minutes=1)
    assert [round((at - start) / SECOND) for at in times(project, "chain")] == [60, 61, 62]
    assert {job.state for job in project.scheduled()} == {"success"}


def test_what_scheduled_functions_do_is_measured_on_request(project: Deployment, web_server: WebServer) -> None:
    for scheduled, functions in ((False, ["jobs:later"]), (True, ["jobs:later", "jobs:chain", "jobs:chain"])):
        with project.trace(scheduled=scheduled) as work:
            project.mutation("jobs:later", name="chain", ms=SECOND, times=2)
            project.advance(seconds=3)
        assert [call.function for call in work.calls] == functions
    project.mutation("jobs:askLater", name="asked", url=web_server.reply("GET", "/", Reply.text("ok")), ms=SECOND)
    with project.trace(scheduled=True) as work:
        project.advance(seconds=2)
    assert [(call.function, call.documents_written) for call in work.calls] == [("jobs:record", 1), ("jobs:ask", 0)]


def test_cron_jobs_run_at_each_of_their_times(project: Deployment) -> None:
    project.advance(hours=3)
    minutes = [round(at / 60_000) % 60 for at in times(project, "hourly")]
    assert minutes == [30, 30, 30]


def test_a_query_that_looked_at_the_clock_looks_again(project: Deployment) -> None:
    before = project.query("jobs:time")
    project.advance(minutes=5)
    assert project.query("jobs:time") - before >= 5 * 60 * SECOND


def test_time_passes_while_an_action_runs_and_it_can_be_killed(project: Deployment, web_server: WebServer) -> None:
    asked, released = threading.Event(), threading.Event()

    def hold(_: WebRequest) -> Reply:
        asked.set()
        released.wait(60)
        return Reply.text("at last")

    url = web_server.reply("GET", "/", hold)
    project.mutation("jobs:askLater", name="asked", url=url, ms=0)
    assert asked.wait(60)
    project.advance(minutes=10)
    assert [job.state for job in project.scheduled()] == ["inProgress"]
    assert project.kill_actions() == 1
    wait_until(lambda: [job.state for job in project.scheduled()] == ["failed"], seconds=60)
    released.set()
    assert project.kill_actions() == 0
    assert times(project, "asked") == []


def test_what_is_running_ends_before_time_passes(project: Deployment, web_server: WebServer) -> None:
    def take_a_while(_: WebRequest) -> Reply:
        threading.Event().wait(0.2)
        return Reply.text("soon")

    start = project.now()
    url = web_server.reply("GET", "/", take_a_while)
    project.mutation("jobs:askLater", name="asked", url=url, ms=0)
    wait_until(lambda: web_server.requests, "the request")
    project.advance(hours=1)
    [at] = times(project, "asked")
    assert at - start < HOUR


def test_a_stopped_clock_stands_still_until_it_is_moved(project: Deployment) -> None:
    with project.stopped_clock():
        start = project.now()
        planned = project.mutation("jobs:later", name="later", ms=50, times=1)
        threading.Event().wait(0.3)
        now = project.now()
        assert (planned, project.query("jobs:time")) == (start, now)
        assert start < now <= start + 5, "a millisecond per write"
        assert times(project, "later") == []
        project.advance(seconds=1)
        assert now + SECOND <= project.now() <= now + SECOND + 5
        assert times(project, "later") == [start + 50]
    wait_until(lambda: project.now() > start + 2 * SECOND, "a clock that goes")


def test_an_action_that_was_killed_does_nothing_more(project: Deployment, web_server: WebServer) -> None:
    def kill(_: WebRequest) -> Reply:
        project.kill_actions()
        return Reply.text("too late")

    project.mutation("jobs:askLater", name="asked", url=web_server.reply("GET", "/", kill), ms=0)
    wait_until(lambda: [job.state for job in project.scheduled()] == ["failed"], seconds=60)
    project.advance(minutes=1)
    assert times(project, "asked") == []


def test_after_a_restart_mutations_run_and_actions_that_had_begun_have_failed(
    project: Deployment, web_server: WebServer
) -> None:
    asked, released = threading.Event(), threading.Event()

    def hold(_: WebRequest) -> Reply:
        asked.set()
        released.wait(60)
        return Reply.text("at last")

    url = web_server.reply("GET", "/", hold)
    project.mutation("jobs:askLater", name="asked", url=url, ms=0)
    project.mutation("jobs:later", name="later", ms=HOUR, times=1)
    assert asked.wait(60)
    with project.subscribe("jobs:byIndex", name="later") as live:
        project.restart()
        with pytest.raises(AssertionError, match="it ended"):
            live.wait_until(lambda count: count == 1, seconds=60)
    released.set()
    wait_until(lambda: {job.state for job in project.scheduled()} == {"failed", "pending"}, seconds=60)
    project.advance(hours=1)
    assert (len(times(project, "later")), times(project, "asked")) == (1, [])


def test_what_never_ends_does_not_hold_up_a_grader(project: Deployment, web_server: WebServer) -> None:
    released = threading.Event()

    def hold(_: WebRequest) -> Reply:
        released.wait(60)
        return Reply.text("")

    project.mutation("jobs:askLater", name="asked", url=web_server.reply("GET", "/", hold), ms=SECOND)
    project.transport.clock.start(1.0)
    with pytest.raises(CallTimedOut, match="scheduled for the next 0:01:00"):
        project.advance(minutes=1)
    project.transport.clock.start(60.0)
    released.set()


def test_a_deployment_that_cannot_be_simulated_is_not_the_answers_fault(project: Deployment, clock: Clock) -> None:
    transport = project.transport
    other = Deployment(Transport("project", transport.site_url, transport.site_url, transport.admin_key, clock))
    with pytest.raises(DeploymentLost, match="only an embedded deployment"):
        other.advance(minutes=1)
