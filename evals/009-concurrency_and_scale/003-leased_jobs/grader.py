"""Jobs that are leased, tried again later, and die."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, at_once

LEASE_MS = 60_000
DELAYS_MS = (10_000, 20_000, 40_000)
STATES = ("ready", "delayed", "leased", "done", "dead")


@pytest.fixture(autouse=True)
def stopped_clock(project: Deployment) -> Iterator[None]:
    """Seconds count here, and must not depend on how long the calls take."""
    with project.stopped_clock():
        yield


def enqueue(project: Deployment, payload: str, priority: float = 0, queue: str = "q", **delay: Any) -> str:
    return str(project.mutation("jobs:enqueue", queue=queue, payload=payload, priority=priority, **delay))


def claim(project: Deployment, queue: str = "q") -> Any:
    return project.mutation("jobs:claim", queue=queue)


def end(project: Deployment, how: str, job: dict[str, Any]) -> Any:
    return project.mutation(f"jobs:{how}", jobId=job["jobId"], lease=job["lease"])


def stats(project: Deployment, queue: str = "q") -> dict[str, int]:
    """The states that some job is in."""
    found = project.query("jobs:stats", queue=queue)
    assert found.keys() == set(STATES)
    return {state: count for state, count in found.items() if count}


def dead(project: Deployment, queue: str = "q") -> list[str]:
    return [job["payload"] for job in project.query("jobs:dead", queue=queue)]


def test_jobs_are_handed_out_by_priority_and_then_in_order(project: Deployment) -> None:
    assert claim(project) is None
    ids = {
        name: enqueue(project, name, priority)
        for name, priority in (("a", 1), ("b", 2.5), ("c", 1), ("d", -3), ("e", 2.5))
    }
    enqueue(project, "elsewhere", 9, queue="other")
    claimed = [claim(project) for _ in range(5)]
    assert [job["payload"] for job in claimed] == ["b", "e", "a", "c", "d"]
    assert [job["jobId"] for job in claimed] == [ids[job["payload"]] for job in claimed]
    assert [job.keys() for job in claimed] == [{"jobId", "payload", "attempt", "lease"}] * 5
    assert {job["attempt"] for job in claimed} == {1}
    assert len({job["lease"] for job in claimed}) == 5
    assert claim(project) is None
    assert (stats(project), stats(project, "other"), stats(project, "none")) == ({"leased": 5}, {"ready": 1}, {})


def test_a_job_that_is_tried_again_keeps_its_place(project: Deployment) -> None:
    for payload in ("a", "b"):
        enqueue(project, payload)
    assert end(project, "fail", claim(project)) is True
    enqueue(project, "c")
    project.advance(seconds=11)
    again = claim(project)
    assert (again["payload"], again["attempt"]) == ("a", 2)
    assert claim(project)["payload"] == "b"


def test_a_delayed_job_is_ready_at_its_time(project: Deployment) -> None:
    enqueue(project, "later", 5, delayMs=90_000)
    enqueue(project, "soon", 0)
    enqueue(project, "now", -1, delayMs=0)
    assert stats(project) == {"delayed": 1, "ready": 2}
    assert [claim(project)["payload"] for _ in range(2)] == ["soon", "now"]
    assert claim(project) is None
    project.advance(seconds=65)
    assert stats(project) == {"delayed": 3}
    project.advance(seconds=30)
    assert claim(project)["payload"] == "later"


def test_a_job_is_tried_four_times_with_growing_delays(project: Deployment) -> None:
    job_id = enqueue(project, "a")
    for attempt, delay in enumerate(DELAYS_MS, start=1):
        job = claim(project)
        assert (job["jobId"], job["attempt"]) == (job_id, attempt)
        assert end(project, "fail", job) is True
        assert stats(project) == {"delayed": 1}
        project.advance(seconds=delay / 1000 - 5)
        assert (stats(project), claim(project)) == ({"delayed": 1}, None)
        project.advance(seconds=6)
        assert stats(project) == {"ready": 1}
    assert end(project, "fail", claim(project)) is True
    assert (stats(project), dead(project)) == ({"dead": 1}, ["a"])
    project.advance(hours=1)
    assert (stats(project), claim(project)) == ({"dead": 1}, None)


def test_a_lease_that_ends_is_a_failed_attempt(project: Deployment) -> None:
    enqueue(project, "a")
    for delay in DELAYS_MS:
        job = claim(project)
        project.advance(seconds=LEASE_MS / 1000 - 8)
        assert stats(project) == {"leased": 1}
        project.advance(seconds=9)
        assert stats(project) == {"delayed": 1}
        for how in ("complete", "fail", "extend"):
            assert end(project, how, job) is False
        project.advance(seconds=delay / 1000)
        assert stats(project) == {"ready": 1}
    claim(project)
    project.advance(seconds=61)
    assert (stats(project), dead(project)) == ({"dead": 1}, ["a"])


def test_an_extended_lease_ends_later(project: Deployment) -> None:
    enqueue(project, "a")
    job = claim(project)
    for _ in range(3):
        project.advance(seconds=45)
        assert end(project, "extend", job) is True
    project.advance(seconds=50)
    assert stats(project) == {"leased": 1}
    assert end(project, "complete", job) is True
    project.advance(hours=1)
    assert (stats(project), claim(project)) == ({"done": 1}, None)


def test_a_lease_that_was_extended_once_ends_all_the_same(project: Deployment) -> None:
    enqueue(project, "a")
    job = claim(project)
    project.advance(seconds=30)
    end(project, "extend", job)
    project.advance(seconds=45)
    assert stats(project) == {"leased": 1}
    project.advance(seconds=17)
    assert stats(project) == {"delayed": 1}


def test_only_the_current_lease_counts(project: Deployment) -> None:
    enqueue(project, "a")
    enqueue(project, "b")
    first, other = claim(project), claim(project)
    end(project, "fail", first)
    project.advance(seconds=11)
    second = claim(project)
    for wrong in (first, other | {"jobId": first["jobId"]}, second | {"lease": "x"}, second | {"jobId": "x"}):
        for how in ("complete", "fail", "extend"):
            assert end(project, how, wrong) is False
    assert project.mutation("jobs:revive", jobId=second["jobId"]) is False
    assert project.mutation("jobs:revive", jobId="x") is False
    assert stats(project) == {"leased": 2}
    project.advance(seconds=54)
    assert end(project, "complete", second) is True, "the end of an older lease concerns nobody"
    for how in ("complete", "fail", "extend"):
        assert end(project, how, second) is False
    project.advance(seconds=1)
    assert stats(project)["done"] == 1


def test_dead_jobs_are_listed_in_the_order_of_their_deaths_and_can_be_revived(project: Deployment) -> None:
    ids = {name: enqueue(project, name, priority) for name, priority in (("a", 0), ("b", 1), ("c", 2))}
    for _ in range(4):
        jobs = {job["payload"]: job for job in [claim(project) for _ in range(3)]}
        end(project, "fail", jobs["b"])
        project.advance(seconds=2)
        end(project, "fail", jobs["a"])
        project.advance(seconds=100)
    assert dead(project) == ["b", "a", "c"]
    assert project.query("jobs:dead", queue="q")[0] == {"jobId": ids["b"], "payload": "b"}
    assert project.query("jobs:dead", queue="other") == []
    assert project.mutation("jobs:revive", jobId=ids["a"]) is True
    assert (dead(project), stats(project)) == (["b", "c"], {"ready": 1, "dead": 2})
    enqueue(project, "later")
    job = claim(project)
    assert (job["payload"], job["attempt"]) == ("a", 1)
    end(project, "fail", job)
    assert stats(project) == {"delayed": 1, "ready": 1, "dead": 2}
    assert project.mutation("jobs:revive", jobId=ids["a"]) is False


def test_workers_that_race_never_get_the_same_job(project: Deployment) -> None:
    for number in range(5):
        enqueue(project, str(number))
    with project.clients(8) as clients:
        claimed = at_once([partial(client.mutation, "jobs:claim", queue="q") for client in clients])
    assert sorted(job["payload"] for job in claimed if job) == ["0", "1", "2", "3", "4"]
    assert stats(project) == {"leased": 5}


def test_those_who_watch_see_what_time_does(project: Deployment) -> None:
    enqueue(project, "a", delayMs=30_000)
    with project.subscribe("jobs:stats", queue="q") as live:
        assert live.value["delayed"] == 1
        project.advance(seconds=31)
        live.wait_until(lambda found: found["ready"] == 1)
        for _ in range(4):
            claim(project)
            project.advance(seconds=61)
            project.advance(seconds=40)
        live.wait_until(lambda found: found["dead"] == 1)


@dataclass
class Job:
    name: str
    priority: int
    state: str = "ready"
    attempts: int = 0
    due: float = 0  # the end of the lease or of the delay
    lease: Any = None


class Truth:
    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.died: list[Job] = []

    def pass_until(self, now: float) -> None:
        while due := [job for job in self.jobs if job.state in ("leased", "delayed") and job.due <= now]:
            job = min(due, key=lambda each: each.due)
            if job.state == "delayed":
                job.state = "ready"
            else:
                self.fail(job, job.due)

    def fail(self, job: Job, at: float) -> None:
        if job.attempts == len(DELAYS_MS) + 1:
            job.state = "dead"
            self.died.append(job)
        else:
            job.state, job.due = "delayed", at + DELAYS_MS[job.attempts - 1]

    def best(self) -> Job | None:
        ready = [job for job in self.jobs if job.state == "ready"]
        return max(ready, key=lambda job: job.priority, default=None)  # the first among equals

    def stats(self) -> dict[str, int]:
        found = [job.state for job in self.jobs]
        return {state: found.count(state) for state in STATES if state in found}


SLACK_MS = 5000


def let_time_pass(project: Deployment, truth: Truth, seconds: float) -> None:
    """Does not stop close to a moment at which something happens: two clocks would not agree."""
    project.advance(seconds=seconds)
    for _ in range(50):
        now = project.now()
        truth.pass_until(now)
        if not any(abs(job.due - now) < SLACK_MS for job in truth.jobs):
            return
        project.advance(seconds=2 * SLACK_MS / 1000)


def take_step(project: Deployment, truth: Truth, step: str, chance: random.Random) -> None:
    if step == "enqueue":
        name, priority, delay = f"j{len(truth.jobs)}", chance.randrange(3), chance.choice([0, 0, 45_000])
        job = Job(name, priority, "delayed" if delay else "ready", due=project.now() + delay)
        enqueue(project, name, priority, delayMs=delay)
        truth.jobs.append(job)
    elif step == "claim":
        best, now, claimed = truth.best(), project.now(), claim(project)
        assert (claimed and (claimed["payload"], claimed["attempt"])) == (best and (best.name, best.attempts + 1))
        if best is not None:
            best.state, best.attempts, best.due, best.lease = "leased", best.attempts + 1, now + LEASE_MS, claimed
    elif leased := [job for job in truth.jobs if job.lease]:
        job, now = chance.choice(leased), project.now()
        assert end(project, step, job.lease) is (job.state == "leased")
        if job.state != "leased":
            return
        if step == "extend":
            job.due = now + LEASE_MS
        elif step == "complete":
            job.state = "done"
        else:
            truth.fail(job, now)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_workers_do_every_job_is_in_the_right_state(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    steps = ["enqueue", "claim", "claim", "claim", "extend", "complete", "fail", "time", "time"]
    for name in range(3):
        take_step(project, truth, "enqueue", random.Random(name))
    for _ in range(40):
        step = chance.choice(steps)
        done.append(step)
        let_time_pass(project, truth, chance.choice([7, 15, 33, 70]) if step == "time" else 0)
        if step != "time":
            take_step(project, truth, step, chance)
        assert stats(project) == truth.stats(), f"after {done}"
    let_time_pass(project, truth, 300)
    assert dead(project) == [job.name for job in truth.died]


def test_claims_and_counts_do_not_read_other_jobs(project: Deployment) -> None:
    for number in range(30):
        enqueue(project, str(number), number % 3)
        enqueue(project, str(number), 9, delayMs=1_000_000)
        enqueue(project, str(number), queue=f"other {number}")
    for number in range(28):
        job = claim(project)
        if number % 2:
            end(project, "complete", job)
    with project.trace() as work:
        claim(project)
    assert work.documents_read <= 20
    with project.trace() as work:
        stats(project)
    assert work.documents_read <= 20


@pytest.mark.parametrize("wrong", [{"queue": 1}, {"payload": 1}, {"priority": "1"}, {"delayMs": "1"}])
def test_arguments_are_checked(project: Deployment, wrong: dict[str, Any]) -> None:
    with project.fails("ArgumentValidationError"):
        project.mutation("jobs:enqueue", {"queue": "q", "payload": "", "priority": 1} | wrong)
    for name in ("extend", "complete", "fail"):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"jobs:{name}", jobId=1, lease="")
        with project.fails("ArgumentValidationError"):
            project.mutation(f"jobs:{name}", jobId="", lease=1)
    with project.fails("ArgumentValidationError"):
        project.mutation("jobs:claim", queue=1)
    for name in ("stats", "dead"):
        with project.fails("ArgumentValidationError"):
            project.query(f"jobs:{name}", queue=1)
