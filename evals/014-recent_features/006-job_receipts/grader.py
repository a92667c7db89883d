"""Every receipt names its own job, although nobody passes it on."""

import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, Sources, WebRequest, WebServer, wait_until

HANG_SECONDS = 300.0
hanging: list[threading.Event] = []


class Carrier:
    """Takes what is shipped: with the given statuses, then with 200. Does not respond while `over` is not set."""

    def __init__(self, server: WebServer, *statuses: int, path: str = "/ship", hangs: bool = False) -> None:
        self.received: list[list[str]] = []
        self.statuses, self.over = list(statuses), threading.Event()
        if not hangs:
            self.over.set()
        hanging.append(self.over)
        self.url = server.reply("POST", path, self.respond)

    def respond(self, request: WebRequest) -> Reply:
        self.received.append(request.json()["receipts"])
        self.over.wait(HANG_SECONDS)
        return Reply.json({}, self.statuses.pop(0) if self.statuses else 200)


@pytest.fixture(autouse=True)
def no_silence() -> Iterator[None]:
    """Whatever a test leaves hanging ends with it."""
    yield
    while hanging:
        hanging.pop().set()


def receipts(project: Deployment, item: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.query("work:receipts", item=item)
    assert all(each.keys() == {"receipt", "job", "state"} for each in found)
    return found


def jobs(project: Deployment, item: str) -> list[tuple[str | None, str | None]]:
    return [(each["job"], each["state"]) for each in receipts(project, item)]


def of_job(project: Deployment, job: str) -> list[str]:
    found: list[str] = project.query("work:ofJob", job=job)
    return found


def ship(project: Deployment, carrier: Carrier, *items: str, seconds: float = 0) -> str:
    return str(project.mutation("orders:shipLater", items=items, url=carrier.url, seconds=seconds))


def test_without_a_job_every_call_has_a_receipt(project: Deployment) -> None:
    returned = project.mutation("orders:packNow", items=["pen", "cup", "pen"])
    returned += project.action("orders:packAtTheSameTime", items=["pen", "pen"])
    returned.append(project.admin.mutation("work:pack", item="pen"))
    assert len(set(returned)) == 6
    assert jobs(project, "pen") == [(None, None)] * 5
    assert {each["receipt"] for each in receipts(project, "pen")} == {*returned[:1], *returned[2:]}
    assert receipts(project, "pen")[0]["receipt"] == returned[0]
    assert receipts(project, "pen")[-1]["receipt"] == returned[-1]
    assert receipts(project, "cup") == [{"receipt": returned[1], "job": None, "state": None}]
    assert receipts(project, "nothing") == []
    assert {each["_id"] for each in project.documents("receipts")} == set(returned)


def test_a_scheduled_mutation_is_the_job(project: Deployment) -> None:
    with project.stopped_clock():
        first = project.mutation("orders:packLater", item="pen", seconds=30)
        second = project.mutation("orders:packLater", item="pen", seconds=60)
        project.mutation("orders:packNow", items=["pen"])
        assert jobs(project, "pen") == [(None, None)]
        project.advance(seconds=45)
        assert jobs(project, "pen") == [(None, None), (first, "success")]
        project.advance(seconds=45)
        assert jobs(project, "pen") == [(None, None), (first, "success"), (second, "success")]
    project.mutation("orders:packNow", items=["cup", "pen"])
    assert jobs(project, "pen")[3:] == [(None, None)]
    assert (of_job(project, first), of_job(project, second)) == (["pen"], ["pen"])


def test_equal_jobs_at_the_same_time_are_told_apart(project: Deployment) -> None:
    with project.stopped_clock():
        expected = {project.mutation("orders:packLater", item="pen", seconds=30) for _ in range(6)}
        project.advance(seconds=31)
    assert {job for job, _ in jobs(project, "pen")} == expected
    assert len(receipts(project, "pen")) == 6


def test_a_job_that_a_job_has_scheduled_is_another_one(project: Deployment) -> None:
    first = project.mutation("orders:packOneByOne", items=["pen", "cup", "pen"], seconds=10)
    project.advance(minutes=5)
    done = [job.id for job in project.scheduled()]
    assert (len(done), done[0]) == (3, first)
    assert jobs(project, "pen") == [(done[0], "success"), (done[2], "success")]
    assert jobs(project, "cup") == [(done[1], "success")]
    assert [of_job(project, job) for job in done] == [["pen"], ["cup"], ["pen"]]


def test_what_an_action_does_through_other_functions_is_part_of_its_job(
    project: Deployment, web_server: WebServer
) -> None:
    carrier = Carrier(web_server)
    job = ship(project, carrier, "pen", "cup", "hat")
    project.advance(seconds=1)
    assert [jobs(project, item) for item in ("pen", "cup", "hat")] == [[(job, "success")]] * 3
    assert carrier.received == [[receipts(project, item)[0]["receipt"] for item in ("pen", "cup", "hat")]]
    assert sorted(of_job(project, job)) == ["cup", "hat", "pen"]


@pytest.mark.parametrize(("statuses", "state"), [((500, 500), "success"), ((500, 500, 500), "failed")])
def test_a_job_packs_an_item_once(
    project: Deployment, web_server: WebServer, statuses: tuple[int, ...], state: str
) -> None:
    carrier = Carrier(web_server, *statuses)
    project.mutation("orders:packNow", items=["pen"])
    job = ship(project, carrier, "pen", "cup", "pen")
    project.advance(seconds=1)
    assert len(carrier.received) == 3
    assert jobs(project, "pen") == [(None, None), (job, state)]
    assert jobs(project, "cup") == [(job, state)]
    pen, cup = receipts(project, "pen")[1]["receipt"], receipts(project, "cup")[0]["receipt"]
    assert carrier.received == [[pen, cup, pen]] * 3
    again = ship(project, carrier, "pen", "pen")
    project.advance(seconds=1)
    assert jobs(project, "pen")[1:] == [(job, state), (again, "success")]
    assert len(project.documents("receipts")) == 4


def test_what_happens_while_jobs_are_running_is_not_mixed_up(project: Deployment, web_server: WebServer) -> None:
    slow, other = (Carrier(web_server, path=path, hangs=True) for path in ("/slow", "/other"))
    first, second = ship(project, slow, "pen", "cup"), ship(project, other, "pen", "cup")
    wait_until(lambda: slow.received and other.received, "two jobs that wait for the carrier")
    assert sorted(jobs(project, "pen"), key=str) == sorted([(first, "inProgress"), (second, "inProgress")], key=str)
    project.mutation("orders:packNow", items=["pen"])
    project.action("orders:packAtTheSameTime", items=["pen", "cup"])
    assert jobs(project, "pen")[2:] == [(None, None)] * 2
    assert jobs(project, "cup")[2:] == [(None, None)]
    third = project.mutation("orders:packLater", item="pen", seconds=0)
    wait_until(lambda: jobs(project, "pen")[4:] == [(third, "success")], "the third job")
    assert dict(jobs(project, "pen")[:2]) == {first: "inProgress", second: "inProgress"}
    slow.over.set()
    wait_until(lambda: (first, "success") in jobs(project, "cup"), "the end of the first job")
    other.over.set()
    wait_until(lambda: (second, "success") in jobs(project, "cup"), "the end of the second job")
    assert [len(of_job(project, job)) for job in (first, second, third)] == [2, 2, 1]


def test_pages_follow_the_state(project: Deployment, web_server: WebServer) -> None:
    carrier = Carrier(web_server, 500, 500, 500, hangs=True)
    job = ship(project, carrier, "pen")
    wait_until(lambda: carrier.received, "a job that waits for the carrier")
    with project.subscribe("work:receipts", item="pen") as live:
        assert [(each["job"], each["state"]) for each in live.value] == [(job, "inProgress")]
        carrier.over.set()
        live.wait_until(lambda value: value[0]["state"] == "failed")
    carrier = Carrier(web_server, hangs=True)
    job = ship(project, carrier, "cup")
    wait_until(lambda: carrier.received, "a job that waits for the carrier")
    with project.subscribe("work:receipts", item="cup") as live:
        project.mutation("orders:cancel", job=job)
        live.wait_until(lambda value: value[0]["state"] == "canceled")
    carrier.over.set()


def test_a_job_that_is_forgotten_keeps_its_receipts(project: Deployment) -> None:
    job = project.mutation("orders:packLater", item="pen", seconds=1)
    project.advance(seconds=2)
    project.mutation("orders:packNow", items=["pen"])
    assert jobs(project, "pen") == [(job, "success"), (None, None)]
    project.advance(days=15)
    project.restart()  # the deployment looks for jobs to forget when it starts, and from time to time
    wait_until(lambda: project.scheduled() == [], "that the scheduler forgets the job")
    assert jobs(project, "pen") == [(job, "forgotten"), (None, None)]
    assert of_job(project, job) == ["pen"]


def test_little_is_read(project: Deployment, web_server: WebServer) -> None:
    carrier = Carrier(web_server)
    project.mutation("orders:packNow", items=["pen"] * 20 + ["cup"] * 20)
    for _ in range(20):
        project.mutation("orders:packLater", item="pen", seconds=5)
    project.advance(seconds=6)
    items = [f"item {number}" for number in range(20)]
    job = ship(project, carrier, *items, "pen", seconds=5)
    with project.trace(scheduled=True) as work:
        project.advance(seconds=6)
    packed = work.calls_of("orders:packOne")
    assert len(packed) >= 21  # what was tried again because of a conflict counts too
    assert max(call.documents_read for call in packed) <= 5
    with project.trace() as work:
        project.mutation("orders:packNow", items=["pen"])
    assert work.documents_read <= 5
    with project.trace() as work:
        packed_by_job = of_job(project, job)
    assert work.documents_read <= 23
    with project.trace() as work:
        assert jobs(project, "item 3") == [(job, "success")]
    assert work.documents_read <= 4
    written = [each["_id"] for each in project.documents("receipts")]
    ours = {
        written.index(each["receipt"]): item
        for item in (*items, "pen")
        for each in receipts(project, item)
        if each["job"] == job
    }
    assert packed_by_job == [ours[position] for position in sorted(ours)]


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_packed_the_receipts_are_right(project: Deployment, web_server: WebServer, seed: int) -> None:
    chance, carrier = random.Random(seed), Carrier(web_server, 500, 200, 500, 500, 200)
    truth: dict[str, list[str | None]] = {"a": [], "b": [], "c": []}
    with project.stopped_clock():
        for step in range(12):
            items = chance.choices("abc", k=chance.randint(1, 4))
            way = chance.choice(["now", "later", "ship", "one by one"])
            if way == "now":
                project.mutation("orders:packNow", items=items)
                for item in items:
                    truth[item].append(None)
            elif way == "later":
                for item in items:
                    truth[item].append(project.mutation("orders:packLater", item=item, seconds=1))
            elif way == "ship":
                job = ship(project, carrier, *items, seconds=1)
                for item in set(items):
                    truth[item].append(job)
            else:
                known = {job.id for job in project.scheduled()}
                project.mutation("orders:packOneByOne", items=items, seconds=1)
                project.advance(minutes=5)
                new = [job.id for job in project.scheduled() if job.id not in known]
                for item, job in zip(items, new, strict=True):
                    truth[item].append(job)
            project.advance(seconds=2)
            for item, expected in truth.items():
                received = [job for job, _ in jobs(project, item)]
                assert sorted(received, key=str) == sorted(expected, key=str), f"step {step}: {way} {items}"
    for item in truth:
        assert all(state == ("success" if job else None) for job, state in jobs(project, item))


def test_what_clients_can_call(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    given = {f"orders:{name}": "mutation" for name in ("packNow", "packLater", "packOneByOne", "shipLater", "cancel")}
    given["orders:packAtTheSameTime"] = "action"
    assert public == {"work:receipts": "query", "work:ofJob": "query", **given}
    with project.fails("Could not find public function"):
        project.mutation("work:pack", item="pen")
    job = project.mutation("orders:packLater", item="pen", seconds=1)
    receipt = project.mutation("orders:packNow", items=["pen"])[0]
    for wrong in ({}, {"item": 1}, {"item": "pen", "job": job}):
        with project.fails("ArgumentValidationError"):
            project.admin.mutation("work:pack", wrong)
        with project.fails("ArgumentValidationError"):
            project.query("work:receipts", wrong)
    for wrong in ({}, {"job": "nonsense"}, {"job": receipt}, {"job": None}, {"job": job, "item": "pen"}):
        with project.fails("ArgumentValidationError"):
            project.query("work:ofJob", wrong)
    assert of_job(project, job) == []


def test_what_the_context_offers_is_named(files: Sources) -> None:
    assert files.searches() == []
