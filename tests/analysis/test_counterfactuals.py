from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from convex_evals.analysis.counterfactuals import (
    Neighbour,
    gather_counterfactuals,
    is_stated,
    read_demands,
    read_neighbours,
    task_of_test,
)
from convex_evals.analysis.evidence import Demand, Evidence, OtherModel, Repeats
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import STEPS, Status, StepName
from convex_evals.scores import Fingerprints, Generation, Outcome, PlannedEval, RunPlan, ScoresStore

TASK = "`getMessages` returns messages. A body without an email is answered with 400 and `email is required`."


@pytest.mark.parametrize(
    ("term", "stated"),
    [
        ("getMessages", True),
        ("email is required", True),
        ("400", True),
        ("returnsMessages", True),
        ("returns", True),
        ("by_channel", False),
        ("404", False),
        ("mess", False),
    ],
)
def test_a_term_is_stated_as_it_is_or_as_its_words(term: str, stated: bool) -> None:
    assert is_stated(term, TASK) is stated


def test_what_an_assertion_demands_is_looked_up_in_the_task() -> None:
    test = Diagnostic(
        "test",
        "assert …",
        "test_a",
        expected="(400, {'error': 'email is required', 'hint': 'try again later'})",
        received="(500, {})",
        assertion='assert (response.status, response.json()) == (400, {"error": "email is required"})',
    )
    found = read_demands((test,), TASK, "")
    assert Demand("email is required", True) in found
    assert Demand("try again later", False) in found
    assert Demand("400", True) in found
    assert Demand("hint", False) in found


def test_declarations_that_differ_name_the_part() -> None:
    test = Diagnostic(
        "tests", "the functions differ\nindex:list returns: expected v.array(), received any", "test_spec"
    )
    assert read_demands((test,), "Write a function list.", "") == (Demand("returns", False),)


def test_data_that_the_grader_inserts_is_not_a_demand() -> None:
    test = Diagnostic("tests", "", "test_a", expected="['a long title']")
    assert read_demands((test,), TASK, 'project.insert("posts", {"title": "a long title"})') == ()


def test_without_a_task_nothing_is_claimed() -> None:
    assert read_demands((Diagnostic("tests", "", "t", expected="'a b c'"),), "", "") == ()


LINT = Diagnostic("eslint", "Unexpected any.", "no-explicit-any", fingerprint="lint:no-explicit-any")
SPEC = Diagnostic("tests", "the functions differ from those of the task\nx: expected a, received b", "test_spec")
CALL = Diagnostic("tests", "assert 1 == 2", "test_calls", assertion='assert project.query("index:a") == 2')
OWN = Neighbour("run1", "maker/one", "maker", "attempt1", "c/e", 1, False, "files1", frozenset({"test:a"}))


def failed(
    step: StepName, *diagnostics: Diagnostic, tests: TestCounts | None = None, also: StepName | None = None
) -> Evidence:
    steps = tuple(StepResult(name, "failed" if name in (step, also) else "passed") for name in STEPS)
    return Evidence(failed_step=step, eval="c/e", steps=steps, diagnostics=diagnostics, tests=tests)


def test_an_answer_that_only_the_linter_rejects_would_pass_without_it() -> None:
    alone = gather_counterfactuals(failed("eslint", LINT, tests=TestCounts(5, 5)))
    assert (alone.lint_rules, alone.passes_without_lint, alone.behaviour_passes) == (("no-explicit-any",), True, True)
    together = gather_counterfactuals(failed("eslint", LINT, CALL, tests=TestCounts(4, 5), also="tests"))
    assert (together.passes_without_lint, together.behaviour_passes) == (False, False)


@pytest.mark.parametrize(
    ("tests", "diagnostics", "passes"),
    [
        (TestCounts(4, 5), (SPEC,), True),
        (TestCounts(3, 5), (SPEC, CALL), False),
        (TestCounts(0, 1), (SPEC,), None),
        (None, (), None),
    ],
)
def test_behaviour_passes_when_only_comparisons_of_declarations_fail(
    tests: TestCounts | None, diagnostics: tuple[Diagnostic, ...], passes: bool | None
) -> None:
    assert gather_counterfactuals(failed("tests", *diagnostics, tests=tests)).behaviour_passes is passes


def test_other_trials_other_models_and_the_same_files_are_counted_apart() -> None:
    neighbours = (
        OWN,
        replace(OWN, attempt="a2", trial=2, passed=True, files="files2"),
        replace(OWN, attempt="a3", run="run2", passed=True),
        replace(OWN, attempt="a4", run="run3", model="maker/two", files="x"),
        replace(OWN, attempt="a5", run="run4", model="maker/two", files="y", passed=True),
        replace(OWN, attempt="a6", run="run5", model="maker/three", files="z", checks=frozenset({"test:b"})),
        replace(OWN, attempt="a7", run="run6", model="reference", provider="built-in", passed=True),
        replace(OWN, attempt="a8", run="run2", eval="c/other", passed=True),
    )
    found = gather_counterfactuals(failed("tests", CALL), OWN, neighbours)
    assert found.other_trials == Repeats(1, 0)
    assert found.same_answer == Repeats(2, 0)
    assert found.other_models == (
        OtherModel("maker/two", "run3", False, True),
        OtherModel("maker/three", "run5", False),
    )


EVAL = PlannedEval("c/e", "task", "grader")
GRADED = Fingerprints(pipeline="options", toolchain="tools")


@pytest.fixture
def graded(store: ScoresStore) -> Callable[..., str]:
    """A run of one eval in which the same answer is graded."""

    def graded(status: Status, planned: PlannedEval = EVAL, prints: Fingerprints = GRADED, model: str = "m") -> str:
        run = store.create_run(RunPlan(model, "p", "default", (planned,), fingerprints=prints))
        attempt = store.begin_attempt(run, planned.eval)
        store.record_generation(attempt.id, Generation("q", "r", {"x.ts": "y"}))
        store.finish_attempt(attempt.id, Outcome(status, None if status == "passed" else "tests"))
        store.finish_run(run, "completed")
        return run

    return graded


@pytest.mark.parametrize(
    "otherwise",
    [
        {"planned": replace(EVAL, grader="a more lenient one")},
        {"planned": replace(EVAL, content="another task")},
        {"prints": replace(GRADED, pipeline="another version")},
        {"prints": replace(GRADED, toolchain="tools-blind")},
    ],
    ids=["grader", "task", "options", "tools"],
)
def test_a_verdict_that_was_reached_in_another_way_says_nothing_about_this_one(
    graded: Callable[..., str], store: ScoresStore, otherwise: dict[str, Any]
) -> None:
    for model in ("m", "other"):
        graded("passed", model=model, **otherwise)
    graded("failed", model="other")
    own, *others = read_neighbours(store, store.find_run(graded("failed")), {"c/e"})
    found = gather_counterfactuals(failed("tests", CALL), own, others)
    assert found.same_answer == Repeats(0, 1)
    assert [each.passed for each in found.other_models] == [False]


GRADER = """
def first(project):
    return project.query("notes:list")[0]


def test_it_adds(project):
    project.mutation("notes:add")


def test_it_lists(project):
    assert first(project) == 1
"""
FUNCTIONS = "- `add` is an error without a text.\n- `list` returns all."


@pytest.mark.parametrize(
    ("name", "assertion", "said"),
    [
        ("test_it_lists", "assert first(project) == 1", "- `list` returns all."),
        ("test_it_adds", 'project.mutation("notes:add")', "- `add` is an error without a text."),
        ("test_something", "assert 1 == 2", FUNCTIONS),
    ],
)
def test_the_task_of_a_test_is_about_the_functions_that_it_calls(name: str, assertion: str, said: str) -> None:
    test = Diagnostic("tests", "no", name=name, assertion=assertion)
    assert task_of_test(test, Evidence(failed_step="tests", task=FUNCTIONS, grader=GRADER)) == said


@pytest.mark.parametrize(
    ("message", "task", "stated"),
    [
        ("notes: expected index by_day_and_hour on day, hour, received nothing", "By day and hour.", False),
        ("notes: expected index by_day_and_hour on day, hour, received nothing", "Index `by_day_and_hour`.", True),
        ("notes: expected nothing, received index by_day on day", "Notes of a day.", False),
        ("notes: expected nothing, received index by_day on day", "There are no indexes.", True),
    ],
)
def test_names_of_indexes_and_what_is_added_must_be_stated_verbatim(message: str, task: str, stated: bool) -> None:
    [*_, last] = read_demands((Diagnostic("tests", message),), task, "")
    assert last.stated is stated
