import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.analysis.classification import Classification
from convex_evals.analysis.report import (
    FailureReport,
    InfrastructureFailure,
    Pattern,
    Recommendations,
    Report,
    RunFacts,
)
from convex_evals.analysis.surface import Surface, read_surface
from convex_evals.core.diagnostics import TestResult, failed_test
from convex_evals.core.ids import new_id
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.core.verdicts import FailureClass, Status, StepName
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import Request, plan_run
from convex_evals.scores import Generation, Outcome, RunPlan, ScoresStore
from convex_evals.suite import Suite, load_suite

GRADER = """\
def test_says_hello(files):
    assert files.text("hello.txt") == "hello\\n"


def test_says_it_to_the_right_one(files):
    assert files.text("to.txt") == "world\\n"
"""
EXCERPT = "✗ test_says_it_to_the_right_one (grader.py:6)\n  assert 'nobody' == 'world'"
DIAGNOSTIC = failed_test(
    "pytest",
    TestResult(
        "test_says_it_to_the_right_one",
        "failed",
        "assert 'nobody' == 'world'",
        "grader.py",
        6,
        "'world'",
        "'nobody'",
        'assert files.text("to.txt") == "world\\n"',
    ),
)
RUN = "jn76nmvgpcdwcmpnpkv2rzea8s80y3ef"
Record = Callable[..., str]
MakeFailure = Callable[..., FailureReport]
MakeReport = Callable[..., Report]


@pytest.fixture(scope="session")
def surface() -> Surface:
    """Of the `convex` package that is pinned in the toolchain."""

    async def read() -> Surface:
        settings = read_settings()
        toolchain = await prepare_toolchain(settings)
        return await read_surface(toolchain.packages.package("convex"), toolchain, settings)

    return asyncio.run(read())


@pytest.fixture
def settings() -> Settings:
    return read_settings()


@pytest.fixture
def hello_suite(tmp_path: Path) -> Suite:
    """Three evals that grade files only, so that they are quick. No cache knows their graders."""
    grader = f"{GRADER}# {new_id()}\n"
    for number in range(3):
        path = tmp_path / "evals" / "000-basics" / f"{number:03}-hello"
        (path / "answer").mkdir(parents=True)
        (path / "TASK.txt").write_text("Say hello to the world.\n")
        (path / "answer" / "hello.txt").write_text("hello\n")
        (path / "answer" / "to.txt").write_text("world\n")
        (path / "eval.json").write_text('{"pipeline": "static"}')
        (path / "grader.py").write_text(grader)
    (tmp_path / "evals/000-basics/001-hello/GAPS.txt").write_text("Whether `nobody` is greeted too is not checked.\n")
    return load_suite(tmp_path / "evals")


@pytest.fixture
def store(ready_scores: None, ready_workers: None, tmp_path: Path) -> Iterator[ScoresStore]:
    with ScoresStore.open(tmp_path / "scores.db") as opened:
        yield opened


class Planned:
    """A model in name only: what it wrote is recorded by the test."""

    def __init__(self, name: str, provider: str) -> None:
        self.name, self.provider = name, provider

    def answers(self, asked: object, trial: int) -> bool:
        return True

    async def generate(self, asked: object, trial: int) -> Generation:
        raise AssertionError("nobody asks")


@pytest.fixture
def record(store: ScoresStore, hello_suite: Suite, tmp_path: Path) -> Record:
    """Records a run of the suite: how each eval ended, in its order."""

    def record(*ends: Status, model: str = "maker/one", provider: str = "maker", to: str = "nobody") -> str:
        plan = plan_run(Planned(model, provider), Request(hello_suite, hello_suite.evals, GradingOptions()))
        assert isinstance(plan.run, RunPlan)
        run = store.create_run(plan.run)
        for asked, end in zip(hello_suite.evals, ends, strict=True):
            _record_attempt(store, store.begin_attempt(run, asked.id).id, end, to, tmp_path)
        store.finish_run(run, "completed")
        return run

    return record


def _record_attempt(store: ScoresStore, attempt: str, end: Status, to: str, folder: Path) -> None:
    wrong = end == "failed"
    files = {"hello.txt": "hello\n", "to.txt": f"{to if wrong else 'world'}\n"}
    store.record_generation(attempt, Generation("Say hello to the world.", "Here.", files))
    failure = {"failed": "tests-failed", "infrastructure": "grader-crashed"}.get(end)
    store.record_step(attempt, _step("filesystem", "passed", folder))
    tests = _step("tests", end, folder, EXCERPT if wrong else "", failure)
    store.record_step(attempt, replace(tests, diagnostics=(DIAGNOSTIC,)) if wrong else tests)
    counts = TestCounts(1 if wrong else 2, 2)
    store.finish_attempt(attempt, Outcome(end, "tests" if wrong else None, failure, counts))


def _step(name: StepName, status: Status, folder: Path, excerpt: str = "", failure: str | None = None) -> StepResult:
    log = folder / "step.log"
    log.write_text("")
    return StepResult(name, status, 1.0, 1.0, (), excerpt, log, failure)


@pytest.fixture
def make_failure() -> MakeFailure:
    def make_failure(
        eval: str = "000-fundamentals/003-crons", failure_class: FailureClass = "MODEL_FAULT", **known: object
    ) -> FailureReport:
        values: dict[str, object] = {
            "trial": 1,
            "failed_step": "tests",
            "error": "expected 1, received 2",
            "model_snippet": "return 2;",
            "expected_snippet": "return 1;",
            "found": "isolated",
            "cause_note": "Found by delta debugging.",
            "classification": Classification(
                failure_class, 0.9, "It returns 2.", "It returns 2, not 1.", ("x",), "rule"
            ),
            "evidence": ("4 of 5 tests passed.",),
            "fingerprints": ("test:test_one",),
            "causes": ("test:test_one",),
            "repeat": False,
            "history": "New: first time.",
            "cure": "",
        }
        return FailureReport(eval=eval, **{**values, **known})  # type: ignore[arg-type]

    return make_failure


@pytest.fixture
def make_report(make_failure: MakeFailure) -> MakeReport:
    def make_report(*failures: FailureReport, **known: object) -> Report:
        values: dict[str, object] = {
            "run": RunFacts(
                *(RUN, "2026-02-11", "openai", "openai/gpt-x", "GPT X", "default", "completed", 47, 19, 66),
                low=0.594,
                high=0.807,
                evals=66,
                pass_rate=47 / 66,
            ),
            "date": "2026-02-12",
            "engine": "rules",
            "prior": (),
            "failures": failures or (make_failure(),),
            "infrastructure": (InfrastructureFailure("000-fundamentals/009-x", 1, "worker-died", "signal 9"),),
            "patterns": (Pattern("Test test_one", "Failed at tests.", ("000-fundamentals/003-crons",)),),
            "recommendations": Recommendations(model=("Be careful.",), none=("000-fundamentals/003-crons",)),
            "overall": "Every failure is the model's own.",
        }
        return Report(**{**values, **known})  # type: ignore[arg-type]

    return make_report
