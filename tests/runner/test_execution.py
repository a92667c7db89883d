"""Runs carried out with real workers and real scores."""

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest
from tests.examples import exhaustively

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.retry import GRADING
from convex_evals.core.settings import Settings
from convex_evals.models import Model, ModelUnusableError, ProviderError, find_model
from convex_evals.models.providers import DeadlineError, OutageError, RequestRefusedError
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.runner import (
    ActiveRun,
    Budget,
    Event,
    Execution,
    Finished,
    Grading,
    Halted,
    Request,
    Retrying,
    RunContext,
    StepFinished,
    Stopping,
    Watcher,
    plan_rest,
    plan_run,
)
from convex_evals.runner.execution import Stop, signal_handlers
from convex_evals.runner.pool import Referee
from convex_evals.scores import AttemptRecord, Generation, ScoresStore
from convex_evals.suite import Eval, Suite

MakeSuite = Callable[..., Suite]
Workers = Callable[[], list[psutil.Process]]
NO_TESTS = "# nothing is tested for {seconds} s\n"


@dataclass
class Bench:
    """What is needed to carry out runs in a test."""

    store: ScoresStore
    settings: Settings
    folder: Path

    def begin(self, model: Model, suite: Suite, trials: int = 1) -> ActiveRun:
        return plan_run(model, Request(suite, suite.evals, GradingOptions(), trials=trials)).begin(self.store)

    def execution(self, *runs: ActiveRun, watcher: Watcher, jobs: int = 1) -> Execution:
        return Execution(runs, RunContext(self.store, self.settings, self.folder, jobs, watcher))

    async def carry_out(self, *runs: ActiveRun, watcher: Watcher = lambda event: None, jobs: int = 1) -> bool:
        return await self.execution(*runs, watcher=watcher, jobs=jobs).carry_out()

    def attempts(self, run: ActiveRun) -> list[tuple[str, int, str, str | None]]:
        return [(each.eval[-9:], each.number, each.status, each.failure) for each in self.store.attempts(run.id)]


@pytest.fixture
def bench(store: ScoresStore, settings: Settings, tmp_path: Path, request: pytest.FixtureRequest) -> Bench:
    if "workers" not in request.fixturenames:
        request.getfixturevalue("ready_workers")
    return Bench(store, settings, tmp_path / "workspace")


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convex_evals.runner.pool.GRADING", replace(GRADING, first_pause=0.0))


@dataclass
class CountingModel:
    """Writes what is right, and fails to answer as often as it is told to."""

    troubles: int = 0
    asked: list[str] = field(default_factory=list)
    name: str = "reference"  # a run of this name can be resumed
    provider: str = "test"

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        self.asked.append(f"{asked.name} {trial}")
        if len(self.asked) <= self.troubles:
            raise InfrastructureError("The provider is overloaded.")
        return Generation(asked.task, "hello", {"hello.txt": "hello\n"})


async def test_every_eval_and_trial_is_answered_graded_and_recorded(bench: Bench, make_suite: MakeSuite) -> None:
    model, events = CountingModel(), list[Event]()
    run = bench.begin(model, make_suite(2), trials=2)
    assert await bench.carry_out(run, watcher=events.append, jobs=2)
    record = bench.store.find_run(run.id)
    assert (record.status, record.counts.passed, record.counts.total) == ("completed", 4, 4)
    assert sorted(model.asked) == ["000-hello 1", "000-hello 2", "001-hello 1", "001-hello 2"]
    assert sum(isinstance(event, Finished) for event in events) == 4
    for details in bench.store.details(run.id):
        assert details.generation is not None
        assert bench.store.read_files(details.generation.files) == {"hello.txt": "hello\n"}
        assert [(step.name, step.status) for step in details.steps if step.status != "skipped"] == [
            ("filesystem", "passed"),
            ("tests", "passed"),
        ]
        assert details.logs.keys() == {step.name for step in details.steps}


async def test_runs_carried_out_together_all_finish(bench: Bench, make_suite: MakeSuite) -> None:
    suite = make_suite(2)
    runs = [bench.begin(find_model(name, bench.store), suite) for name in ("reference", "empty")]
    assert await bench.carry_out(*runs, jobs=2)
    counts = [bench.store.find_run(run.id).counts for run in runs]
    assert [(each.passed, each.failed) for each in counts] == [(2, 0), (0, 2)]


async def test_an_eval_whose_worker_is_killed_is_graded_again_without_asking_the_model(
    bench: Bench, make_suite: MakeSuite, hurry: Callable[[], None], workers: Workers, no_pauses: None
) -> None:
    killed: list[psutil.Process] = []

    def kill_once(event: Event) -> None:
        if isinstance(event, StepFinished) and not killed:
            killed.extend(workers())
            killed[0].kill()
            hurry()

    model = CountingModel()
    run = bench.begin(model, make_suite(1, seconds=280))
    assert await bench.carry_out(run, watcher=kill_once)
    assert bench.attempts(run) == [
        ("000-hello", 1, "infrastructure", "worker-died"),
        ("000-hello", 2, "passed", None),
    ]
    assert model.asked == ["000-hello 1"]
    assert bench.store.find_run(run.id).counts.passed == 1


async def test_there_is_no_verdict_when_the_reference_answer_breaks_down_too(
    bench: Bench, make_suite: MakeSuite, workers: Workers, no_pauses: None
) -> None:
    def kill(event: Event) -> None:
        if isinstance(event, StepFinished) and event.step.status == "passed":
            (worker,) = workers()
            worker.kill()

    run = bench.begin(CountingModel(), make_suite(1, seconds=280))
    assert await bench.carry_out(run, watcher=kill)
    assert [number for _, number, status, _ in bench.attempts(run) if status == "infrastructure"] == [1, 2]
    record = bench.store.find_run(run.id)
    assert (record.status, record.counts.infrastructure, record.counts.failed) == ("completed", 1, 0)


# What a hostile answer may bring about, whichever way. The worker is killed by the test while the grader waits.
ACCIDENTS = {
    "grader-crashed": "os.kill(os.getpid(), 9)",
    "worker-died": "time.sleep(280)",
    "grader-broken": "raise NameError",
}
HOSTILE = """\
# {seconds} {hurry}
import os
import time
from pathlib import Path


def test_says_hello(files):
    if "crash" in files.text("hello.txt"):
        ACCIDENT
    assert files.text("hello.txt") == "hello\\n"
"""


@dataclass
class HostileModel(CountingModel):
    said: str = "crash\n"
    name: str = "hostile"

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(asked.task, self.said, {"hello.txt": self.said})


@pytest.mark.parametrize("kind", ["worker-died", "grader-broken", *exhaustively("grader-crashed")])
async def test_what_repeats_on_a_fresh_worker_while_the_reference_passes_is_the_answers_failure(
    bench: Bench, make_suite: MakeSuite, workers: Workers, no_pauses: None, kind: str
) -> None:
    def kill(event: Event) -> None:
        if kind == "worker-died" and isinstance(event, StepFinished) and event.step.name == "filesystem":
            (worker,) = workers()
            worker.kill()

    run = bench.begin(HostileModel(), make_suite(1, grader=HOSTILE.replace("ACCIDENT", ACCIDENTS[kind])))
    assert await bench.carry_out(run, watcher=kill)
    assert bench.attempts(run) == [
        ("000-hello", 1, "infrastructure", kind),
        ("000-hello", 2, "failed", "accident-repeats"),
    ]
    first, second = bench.store.details(run.id)
    assert second.attempt.failed_step == "tests"
    assert second.attempt.broken is None
    assert second.attempt.notes == (
        f"Grading this answer breaks down each time ({kind} at tests, then {kind} at tests); "
        "the reference answer passes tests here.",
    )
    for details, failure in ((first, kind), (second, "accident-repeats")):
        step = next(step for step in details.steps if step.name == "tests")
        assert (step.failure, bool(step.excerpt), "tests" in details.logs) == (failure, True, True)
    assert bench.store.find_run(run.id).counts.failed == 1


async def test_whatever_breaks_down_its_worker_grades_nothing_else_and_the_reference_answer_is_graded_once(
    bench: Bench, make_suite: MakeSuite, workers: Workers, no_pauses: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded: list[str] = []
    really = Referee._grade_reference

    async def counted(referee: Referee, assignment: Assignment) -> Grade:
        graded.append(assignment.eval.id)
        return await really(referee, assignment)

    seen: list[psutil.Process] = []

    def note(event: Event) -> None:
        if isinstance(event, StepFinished) and event.step.name == "filesystem":
            seen.extend(workers())

    monkeypatch.setattr(Referee, "_grade_reference", counted)
    suite = make_suite(1, grader=HOSTILE.replace("ACCIDENT", ACCIDENTS["grader-crashed"]))
    runs = [bench.begin(HostileModel(), suite), bench.begin(HostileModel(said="crash too\n"), suite)]
    assert await bench.carry_out(*runs, watcher=note)
    for run in runs:
        assert bench.attempts(run) == [
            ("000-hello", 1, "infrastructure", "grader-crashed"),
            ("000-hello", 2, "failed", "accident-repeats"),
        ]
    assert graded == [suite.evals[0].id]
    assert len(set(seen)) == 4  # two tries of two answers


async def test_an_accident_that_does_not_repeat_changes_nothing_about_the_verdict(
    bench: Bench, make_suite: MakeSuite, no_pauses: None
) -> None:
    once = "Path(__file__).with_name('armed').exists() and os._exit(3)"
    suite = make_suite(1, grader=HOSTILE.replace("ACCIDENT", once))
    armed = suite.evals[0].path / "armed"
    armed.touch()

    def disarm(event: Event) -> None:
        if isinstance(event, Retrying):
            armed.unlink()

    run = bench.begin(HostileModel(), suite)
    assert await bench.carry_out(run, watcher=disarm)
    assert [(number, status, kind) for _, number, status, kind in bench.attempts(run)] == [
        (1, "infrastructure", "grader-crashed"),
        (2, "failed", "tests-failed"),
    ]


async def test_a_model_that_gives_no_answer_leaves_no_verdict_and_is_not_asked_again(
    bench: Bench, make_suite: MakeSuite
) -> None:
    model = CountingModel(troubles=9)
    run = bench.begin(model, make_suite(1))
    assert await bench.carry_out(run)
    assert model.asked == ["000-hello 1"]
    assert bench.store.find_run(run.id).counts.infrastructure == 1
    (result,) = bench.store.results(run.id)
    assert (result.number, result.failure) == (1, "generation-failed")
    assert result.notes == ("The provider is overloaded.",)


@dataclass
class RefusedModel(CountingModel):
    """Answers a few questions; then its key is refused."""

    troubles: int = 2  # the question with which that begins

    async def generate(self, asked: Eval, trial: int) -> Generation:
        self.asked.append(f"{asked.name} {trial}")
        if len(self.asked) >= self.troubles:
            raise ModelUnusableError("The key in OPENAI_API_KEY is refused.")
        return Generation(asked.task, "hello", {"hello.txt": "hello\n"})


async def test_a_model_whose_key_is_refused_is_asked_no_more_while_other_runs_continue(
    bench: Bench, make_suite: MakeSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.runner.execution.GENERATORS", 1)
    suite, refused, events = make_suite(4), RefusedModel(), list[Event]()
    runs = [bench.begin(refused, suite), bench.begin(CountingModel(), suite)]
    assert await bench.carry_out(*runs, watcher=events.append)
    assert refused.asked == ["000-hello 1", "001-hello 1"]
    assert bench.attempts(runs[0]) == [
        ("000-hello", 1, "passed", None),
        ("001-hello", 1, "infrastructure", "model-unusable"),
    ]
    record, other = (bench.store.find_run(run.id) for run in runs)
    assert (record.status, record.reason) == ("failed", "The key in OPENAI_API_KEY is refused.")
    assert (record.counts.passed, record.counts.infrastructure, record.counts.remaining) == (1, 1, 2)
    assert (other.status, other.counts.passed) == ("completed", 4)
    assert [event.reason for event in events if isinstance(event, Halted)] == [record.reason]

    rest = plan_rest(record, suite, bench.store)
    bench.store.resume_run(record.id)
    assert await bench.carry_out(ActiveRun(record.id, CountingModel(), rest.options, rest.work))
    record = bench.store.find_run(record.id)
    assert (record.status, record.reason, record.counts.passed) == ("completed", None, 4)


async def test_what_a_halted_run_does_not_ask_any_more_is_no_burden_on_the_budget(
    bench: Bench, make_suite: MakeSuite
) -> None:
    """The second question of the first run is admitted when the first one has been refused."""

    class SlowlyRefusedModel(RefusedModel):
        async def generate(self, asked: Eval, trial: int) -> Generation:
            await asyncio.sleep(0.05)
            return await super().generate(asked, trial)

    suite = make_suite(2)
    runs = [bench.begin(SlowlyRefusedModel(troubles=1), suite), bench.begin(CountingModel(), suite)]
    budget = Budget(1.0, lambda run, item: 0.6 if run is runs[0] else 0.5)
    context = RunContext(bench.store, bench.settings, bench.folder, 1, lambda event: None, budget=budget)
    async with asyncio.timeout(60):
        assert await Execution(runs, context).carry_out()
    assert [bench.store.find_run(run.id).counts.passed for run in runs] == [0, 2]


async def test_a_run_of_which_everything_was_refused_at_once_has_failed(bench: Bench, make_suite: MakeSuite) -> None:
    run = bench.begin(RefusedModel(troubles=1), make_suite(2))
    assert await bench.carry_out(run)
    record = bench.store.find_run(run.id)
    assert (record.status, record.counts.infrastructure) == ("failed", 2)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ProviderError("No answer."), "generation-failed"),
        (OutageError("No answer."), "generation-failed"),
        (DeadlineError("No answer."), "generation-timeout"),
        (RequestRefusedError("No answer."), "generation-refused"),
    ],
)
async def test_the_run_never_repeats_what_a_provider_has_given_up(
    bench: Bench, make_suite: MakeSuite, error: ProviderError, failure: str
) -> None:
    class TroubledModel(CountingModel):
        async def generate(self, asked: Eval, trial: int) -> Generation:
            self.asked.append(asked.name)
            raise error

    model = TroubledModel()
    run = bench.begin(model, make_suite(2))
    assert await bench.carry_out(run)
    assert [(number, kind) for _, number, _, kind in bench.attempts(run)] == [(1, failure)] * 2
    assert sorted(model.asked) == ["000-hello", "001-hello"]
    assert bench.store.find_run(run.id).status == "completed"


async def test_a_provider_that_is_down_ends_the_run_of_its_model(
    bench: Bench, make_suite: MakeSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.runner.execution.GENERATORS", 1)

    class DownModel(CountingModel):
        async def generate(self, asked: Eval, trial: int) -> Generation:
            self.asked.append(asked.name)
            raise OutageError("The server cannot be reached.", ends_run=True)

    model = DownModel()
    run = bench.begin(model, make_suite(4))
    assert await bench.carry_out(run)
    assert model.asked == ["000-hello"]
    record = bench.store.find_run(run.id)
    assert (record.status, record.reason) == ("failed", "The server cannot be reached.")


async def test_a_broken_eval_is_not_tried_again(bench: Bench, make_suite: MakeSuite) -> None:
    run = bench.begin(CountingModel(), make_suite(1, grader=NO_TESTS))
    assert await bench.carry_out(run)
    (result,) = bench.store.results(run.id)
    assert (result.status, result.number) == ("infrastructure", 1)
    assert result.broken


async def test_asked_to_stop_it_finishes_what_is_in_flight_and_the_rest_can_be_resumed(
    bench: Bench, make_suite: MakeSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convex_evals.runner.execution.GENERATORS", 1)
    suite, model = make_suite(5), CountingModel()
    run = bench.begin(model, suite)
    events: list[Event] = []

    def interrupt(event: Event) -> None:
        events.append(event)
        if isinstance(event, Grading) and sum(isinstance(each, Grading) for each in events) == 2:
            signal.raise_signal(signal.SIGINT)

    assert not await bench.carry_out(run, watcher=interrupt, jobs=2)
    record = bench.store.find_run(run.id)
    assert (record.status, record.reason, record.counts.passed) == ("stopped", "interrupted", 2)
    assert any(isinstance(event, Stopping) for event in events)
    asked_before = len(model.asked)
    assert asked_before < 5

    rest = plan_rest(record, suite, bench.store)
    assert sum(work.stored is not None for work in rest.work) == asked_before - 2
    resumed = ActiveRun(run.id, model, rest.options, rest.work)
    bench.store.resume_run(run.id)
    assert await bench.carry_out(resumed, jobs=2)
    assert bench.store.find_run(run.id).counts.passed == 5
    assert sorted(model.asked) == [f"{number:03}-hello 1" for number in range(5)]


async def test_asked_to_stop_twice_it_stops_now_and_leaves_no_process(
    bench: Bench, make_suite: MakeSuite, workers: Workers
) -> None:
    run = bench.begin(CountingModel(), make_suite(2, seconds=280))

    def interrupt_twice(event: Event) -> None:
        if isinstance(event, StepFinished):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    async with asyncio.timeout(120):
        assert not await bench.carry_out(run, watcher=interrupt_twice)
    assert workers() == []
    attempts: tuple[AttemptRecord, ...] = bench.store.attempts(run.id)
    assert {each.status for each in attempts} == {"interrupted"}


async def test_a_mistake_of_ours_ends_the_run_and_is_not_wrapped(bench: Bench, make_suite: MakeSuite) -> None:
    class WrongModel(CountingModel):
        async def generate(self, asked: Eval, trial: int) -> Generation:
            raise ZeroDivisionError("a mistake")

    run = bench.begin(WrongModel(), make_suite(1))
    with pytest.raises(ZeroDivisionError):
        await bench.carry_out(run)
    record = bench.store.find_run(run.id)
    assert (record.status, record.reason) == ("failed", "a mistake")


async def test_asking_once_stops_new_work_and_asking_again_stops_all_work() -> None:
    told: list[str] = []
    stop = Stop(on_request=lambda: told.append("once"))
    assert (stop.requested, stop.now.is_set()) == (False, False)
    stop.request()
    assert (stop.requested, stop.now.is_set()) == (True, False)
    stop.request()
    assert (stop.requested, stop.now.is_set()) == (True, True)
    assert told == ["once"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_signals_of_the_system_stop_all_work(number: signal.Signals) -> None:
    stop = Stop()
    with signal_handlers(stop):
        signal.raise_signal(number)
        await stop.now.wait()


async def test_afterwards_signals_mean_what_they_meant_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with signal_handlers(Stop()):
        pass
    assert signal.getsignal(signal.SIGTERM) == before
