"""Runners of `bench service`: each records a generated run in scores of its own and sends it as `run --to` does.

`python -m convex_evals.web.bench.recorders` reads its Work from standard input, says that it is ready, begins when told
to, and prints what was Recorded.
"""

import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import httpx2
import msgspec

from convex_evals.core.retry import SENDING
from convex_evals.core.settings import Destination, Secret
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import StepName
from convex_evals.runner import Courier, Service, catch_up, sending
from convex_evals.scores import GENERATED, Generation, Outcome, PlannedEval, RunPlan, ScoresStore, Usage

MODEL: Final = "generated/recorded"
STEPS: Final[tuple[StepName, ...]] = ("filesystem", "install", "deploy", "tsc", "eslint", "tests")
TEXT_BYTES: Final = 4000
LONG_LOG_BYTES: Final = 1_500_000
"""The first log of a run is sent in parts."""
TRIES: Final = 20
_KINDS: Final = {"": "record", "/leases": "renew leases", "/artifacts/missing": "ask for missing artifacts"}


@dataclass(frozen=True, slots=True)
class Recorder:
    """One runner: its database, and whom it sends to."""

    scores: str
    url: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Work:
    recorders: list[Recorder]
    evals: list[str]


@dataclass(frozen=True, slots=True)
class Answered:
    """One request. `status` 0: there was no answer."""

    kind: str
    status: int
    ms: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """`caught_up`: what `sending` had not sent when the run was over, which was sent after that, as `sync` does."""

    run_id: str
    scores: str
    seconds: float
    caught_up: int
    requests: list[Answered]


class TimedService(Service):
    def __init__(self, destination: Destination) -> None:
        super().__init__(destination)
        self.requests: list[Answered] = []

    def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        start, status = time.perf_counter(), 0
        try:
            response = super().send(method, path, body, headers)
            status = response.status_code
            return response
        finally:
            took = (time.perf_counter() - start) * 1000
            self.requests.append(Answered(_KINDS.get(path, "send an artifact"), status, took))


def record_run(recorder: Recorder, evals: Sequence[str], begin: threading.Event) -> Recorded:
    destination = Destination(recorder.url, token=Secret(recorder.token))
    planned = tuple(PlannedEval(name, f"content of {name}", f"grader of {name}") for name in evals)
    plan = RunPlan(MODEL, GENERATED, "default", planned, labels=(GENERATED,))
    with ScoresStore.open(recorder.scores) as store:
        begin.wait()
        start = time.perf_counter()
        sent = TimedService(destination)
        store.outbox.follow(plan.id, destination.url)
        with sending(store, destination, [plan.id], lambda _: None, sent):
            _record(store, plan, Path(recorder.scores).with_suffix(".log"))
        left = sum(each.entries for each in store.outbox.unsent(destination.url))
        later = _catch_up(store, destination)
    seconds = time.perf_counter() - start
    return Recorded(plan.id, recorder.scores, seconds, left, [*sent.requests, *later])


def _catch_up(store: ScoresStore, destination: Destination) -> list[Answered]:
    service = TimedService(destination)
    with closing(Courier(store, destination, lambda _: None, service=service)) as courier:
        catch_up(courier, (), lambda _: None, time.sleep, replace(SENDING, tries=TRIES, longest_pause=5.0))
    return service.requests


def _record(store: ScoresStore, plan: RunPlan, log: Path) -> None:
    store.create_run(plan)
    with store.hold_run(plan.id):
        for number, planned in enumerate(plan.evals):
            _record_attempt(store, plan.id, planned.eval, log, LONG_LOG_BYTES if number == 0 else TEXT_BYTES)
        store.finish_run(plan.id, "completed")


def _record_attempt(store: ScoresStore, run_id: str, eval: str, log: Path, log_bytes: int) -> None:
    """Everything in it is unique, so that nothing is saved because the service has it already."""
    chance = random.Random(f"{run_id}/{eval}")

    def text(size: int) -> str:
        return chance.randbytes(size // 2).hex() + "\n"

    attempt = store.begin_attempt(run_id, eval)
    files = {"convex/index.ts": text(TEXT_BYTES), "package.json": "{}\n"}
    usage = Usage(4000, 0, 900, 0, 400.0, 9000.0, "stop", GENERATED, 0.01, "provider")
    store.record_generation(attempt.id, Generation(text(TEXT_BYTES), text(TEXT_BYTES), files, usage))
    for name in STEPS:
        log.write_text(text(log_bytes if name == STEPS[0] else TEXT_BYTES))
        store.record_step(attempt.id, StepResult(name, "passed", 150.0, 120.0, log=log))
    store.finish_attempt(attempt.id, Outcome("passed", tests=TestCounts(6, 6), duration_ms=900.0, cpu_ms=700.0))


def main() -> None:
    work = msgspec.json.decode(sys.stdin.buffer.readline(), type=Work)
    begin = threading.Event()
    with ThreadPoolExecutor(len(work.recorders)) as threads:
        recording = [threads.submit(record_run, each, work.evals, begin) for each in work.recorders]
        print("ready", flush=True)
        sys.stdin.buffer.readline()
        begin.set()
        done = [each.result() for each in recording]
    print(msgspec.json.encode(done).decode(), flush=True)


if __name__ == "__main__":
    main()
