"""Real grading workers, on evals that grade files only."""

from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from convex_evals.controls import Case, Findings, Listener, check, findings_json, plan_checkup
from convex_evals.controls.checkup import judged_by_all, without_code
from convex_evals.controls.control import StatedTest
from convex_evals.core.diagnostics import TestResult
from convex_evals.core.settings import read_settings
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import Status
from convex_evals.pipeline.types import Grade, GradingOptions
from convex_evals.runner import GradingPool
from convex_evals.suite import Suite

pytestmark = pytest.mark.asyncio(loop_scope="module")

MakeSuite = Callable[..., Suite]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GradingPool]:
    """Its workers take half a second to start, so there is one for all tests."""
    async with GradingPool.open(read_settings(), tmp_path_factory.mktemp("pool"), 1) as opened:
        yield opened


async def checked(suite: Suite, pool: GradingPool) -> tuple[Findings, list[str]]:
    checkup = plan_checkup(suite, suite.evals[0], suite.root.parent / "controls", most_mutants=25)
    graded: list[str] = []

    def note(case: Case, grade: Grade) -> None:
        graded.append(case.name)

    (found,) = await check([checkup], pool, GradingOptions(), Listener(note, lambda findings: None))
    return found, sorted(graded)


async def test_every_answer_is_graded_and_judged(hello: MakeSuite, pool: GradingPool) -> None:
    found, graded = await checked(hello(), pool)
    assert graded == ["alternative-loud", "empty project", "reference answer", "wrong-moon"]
    assert found.ok and not found.has_mistakes
    assert [(judged.name, judged.status, judged.caught_by) for judged in found.judged] == [
        ("reference answer", "passed", None),
        ("empty project", "failed", "filesystem"),
        ("wrong-moon", "failed", "tests"),
        ("alternative-loud", "passed", None),
    ]
    assert found.wrong[0].failed_tests == ("test_says_it_to_the_right_one",)
    assert not list(pool.folder.glob("case-*"))


async def test_a_grader_that_lets_everything_pass_is_found_out(hello: MakeSuite, pool: GradingPool) -> None:
    grader = "def test_says_it_to_the_right_one(files): ...\n"
    found, _ = await checked(hello(grader=grader), pool)
    assert found.has_mistakes
    (complaint,) = [judged.complaint for judged in found.judged if judged.complaint]
    assert complaint == "must fail at tests (test_says_it_to_the_right_one), but passes every step"


async def test_a_broken_grader_is_a_mistake_of_the_eval(hello: MakeSuite, pool: GradingPool) -> None:
    found, _ = await checked(hello({}, grader="import nonsense\n"), pool)
    assert found.reference.broken and found.has_mistakes
    assert "No module named 'nonsense'" in found.reference.complaint


@pytest.mark.parametrize(
    ("status", "stated", "expected"),
    [
        ("passed", "test_looks", "infrastructure"),
        ("passed", None, "infrastructure"),
        ("failed", "test_looks", "infrastructure"),
        ("failed", "test_reads", "failed"),
        ("failed", None, "failed"),
    ],
)
async def test_without_a_browser_an_answer_that_only_pages_could_tell_from_a_right_one_has_no_verdict(
    hello: MakeSuite, status: Status, stated: str | None, expected: Status
) -> None:
    [asked] = hello().evals
    tests = (TestResult("test_looks", "unseen", "there is no Chromium"), TestResult("test_reads", "passed"))
    grade = Grade(asked.id, status, (StepResult("tests", status, test_results=tests),))
    judged = judged_by_all(Case(asked, "wrong", "wrong-moon", {}, StatedTest(stated) if stated else None), grade)
    assert judged.status == expected
    assert bool(judged.notes) == (expected == "infrastructure")


async def test_findings_are_json(hello: MakeSuite, pool: GradingPool) -> None:
    found, _ = await checked(hello(), pool)
    (written,) = findings_json([found])["evals"]
    assert (written["eval"], written["reference"], written["empty"]) == ("000-basics/000-hello", "passed", "failed")
    assert {key: written["wrong"][0][key] for key in ("name", "caughtBy", "ok")} == {
        "name": "wrong-moon",
        "caughtBy": "tests",
        "ok": True,
    }
    assert {key: written["alternatives"][0][key] for key in ("name", "ok")} == {"name": "alternative-loud", "ok": True}
    assert written["mutants"] == {
        "killed": 0,
        "total": 0,
        "killedBy": {},
        "survivors": [],
        "equivalent": [],
        "withoutVerdict": [],
        "interval": [0.0, 1.0],
    }


async def test_an_empty_project_keeps_its_manifest() -> None:
    answer = {"package.json": "{}", "convex/tsconfig.json": "{}", "convex/index.ts": "", "index.html": ""}
    assert without_code(answer) == {"package.json": "{}", "convex/tsconfig.json": "{}"}
