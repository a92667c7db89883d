from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models import AskOptions, find_model
from convex_evals.models.experiments import Experiment
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import Plan, Request, WorkItem, plan_regrading, plan_rest, plan_run, source_of, suite_of
from convex_evals.runner.plans import options_from_json, options_json, pipeline_fingerprint
from convex_evals.scores import Generation, Outcome, ScoresStore
from convex_evals.suite import Suite, SuiteSettings, load_suite

MakeSuite = Callable[..., Suite]


def request(suite: Suite, trials: int = 1) -> Request:
    return Request(suite, suite.evals, GradingOptions(), trials=trials)


def names(work: tuple[WorkItem, ...]) -> list[tuple[str, int, bool]]:
    return [(each.eval.name, each.trial, each.stored is not None) for each in work]


def answer(store: ScoresStore, run_id: str, eval: str, outcome: Outcome | None, trial: int = 1) -> None:
    attempt = store.begin_attempt(run_id, eval, trial)
    store.record_generation(attempt.id, Generation("asked", "answered", {"hello.txt": "hello\n"}))
    if outcome is not None:
        store.finish_attempt(attempt.id, outcome)


def test_trials_come_one_after_the_other_each_in_the_order_of_the_suite(
    make_suite: MakeSuite, store: ScoresStore
) -> None:
    plan = plan_run(find_model("reference", store), request(make_suite(2), trials=2))
    assert names(plan.work) == [
        ("000-hello", 1, False),
        ("001-hello", 1, False),
        ("000-hello", 2, False),
        ("001-hello", 2, False),
    ]


def test_a_run_is_recorded_with_everything_that_decides_its_results(make_suite: MakeSuite, store: ScoresStore) -> None:
    suite = make_suite(2)
    options = GradingOptions(linter="eslint", admin_key="secret")
    asked = Request(suite, suite.evals, options, AskOptions(Experiment("without_guidelines")), 3, ("nightly",))
    run = plan_run(find_model("empty", store), asked).begin(store, "t" * 64)
    recorded = store.find_run(run.id)
    assert (recorded.model, recorded.provider, recorded.experiment) == ("empty", "built-in", "without_guidelines")
    assert (recorded.status, recorded.trials, recorded.labels) == ("running", 3, ("nightly",))
    assert recorded.options["grading"]["linter"] == "eslint"
    assert "secret" not in str(recorded)
    assert suite_of(recorded) == suite.root
    assert recorded.fingerprints.suite == suite.fingerprint
    assert recorded.fingerprints.toolchain == "t" * 64
    assert recorded.fingerprints.content and recorded.fingerprints.grader and recorded.fingerprints.pipeline


def test_evals_that_a_model_cannot_answer_are_left_out(
    make_suite: MakeSuite, store: ScoresStore, tmp_path: Path
) -> None:
    (tmp_path / "answers" / "000-basics" / "001-hello").mkdir(parents=True)
    plan = plan_run(find_model(f"replay:{tmp_path / 'answers'}", store), request(make_suite(2)))
    assert names(plan.work) == [("001-hello", 1, False)]
    assert plan.left_out == ("000-basics/000-hello",)


def test_a_model_that_can_answer_nothing_is_refused(make_suite: MakeSuite, store: ScoresStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no answer to any of the 2 selected evals"):
        plan_run(find_model(f"replay:{tmp_path}", store), request(make_suite(2)))


@pytest.fixture
def interrupted(make_suite: MakeSuite, store: ScoresStore) -> Plan:
    """The rest of a run of five evals: passed, failed, no verdict, only answered, and not begun."""
    suite = make_suite(5)
    run = plan_run(find_model("empty", store), request(suite)).begin(store)
    outcomes = [Outcome("passed"), Outcome("failed", "tests"), Outcome("infrastructure"), None]
    for each, outcome in zip(suite.evals, outcomes, strict=False):
        answer(store, run.id, each.id, outcome)
    return plan_rest(store.find_run(run.id), suite, store)


def test_the_rest_of_a_run_is_what_has_no_verdict_and_answers_are_not_asked_for_again(interrupted: Plan) -> None:
    assert names(interrupted.work) == [("002-hello", 1, True), ("003-hello", 1, True), ("004-hello", 1, False)]
    assert interrupted.model.name == "empty"


def test_a_resumed_run_keeps_its_id(interrupted: Plan, store: ScoresStore) -> None:
    run = interrupted.begin(store)
    assert [each.id for each in store.runs()] == [run.id]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("000-basics/001-hello/TASK.txt", "Say good-bye.\n", "000-basics/001-hello was changed"),
        ("000-basics/001-hello/grader.py", "# another one\n", "000-basics/001-hello was changed"),
        ("000-basics/001-hello/TASK.txt", "", "000-basics/001-hello is gone"),
    ],
)
def test_a_run_of_evals_that_are_not_what_they_were_cannot_be_resumed(
    make_suite: MakeSuite, store: ScoresStore, file: str, text: str, sentence: str
) -> None:
    suite = make_suite(2)
    run = plan_run(find_model("empty", store), request(suite)).begin(store)
    (suite.root / file).write_text(text)
    with pytest.raises(UsageError, match=sentence):
        plan_rest(store.find_run(run.id), load_suite(suite.root), store)


def test_the_rest_of_a_run_is_graded_by_the_same_version_or_not_at_all(
    make_suite: MakeSuite, store: ScoresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = make_suite(2)
    done, half = (plan_run(find_model("empty", store), request(suite)).begin(store).id for _ in range(2))
    for run, eval in ((done, suite.evals[0]), (done, suite.evals[1]), (half, suite.evals[0])):
        answer(store, run, eval.id, Outcome("passed"))
    monkeypatch.setattr("convex_evals.runner.plans.__version__", "99.0")
    with pytest.raises(UsageError, match=f"version of convex-evals changed since run .* --regrade {half[:8]}"):
        plan_rest(store.find_run(half), suite, store)
    assert plan_rest(store.find_run(done), suite, store).work == ()


def test_the_rest_of_a_run_is_graded_with_the_same_tools_or_not_at_all(
    make_suite: MakeSuite, store: ScoresStore
) -> None:
    suite = make_suite(1)
    run = plan_run(find_model("empty", store), request(suite)).begin(store, "tools")
    rest = plan_rest(store.find_run(run.id), suite, store)
    rest.check_tools("tools")
    with pytest.raises(UsageError, match=f"Chromium .* changed since run {run.id[:8]} began, so it cannot be resumed"):
        rest.check_tools("tools-blind")


def test_regrading_uses_stored_answers_under_the_name_of_the_model(make_suite: MakeSuite, store: ScoresStore) -> None:
    suite = make_suite(3)
    first = plan_run(find_model("empty", store), request(suite)).begin(store)
    for each in suite.evals[:2]:
        answer(store, first.id, each.id, Outcome("passed"))
    plan = plan_regrading(store.find_run(first.id), request(suite), store)
    assert names(plan.work) == [("000-hello", 1, True), ("001-hello", 1, True)]
    assert plan.left_out == ("000-basics/002-hello",)
    again = store.find_run(plan.begin(store).id)
    assert (again.model, again.id != first.id, source_of(again)) == ("empty", True, first.id)


def test_the_rest_of_a_regrading_uses_the_answers_of_its_source(make_suite: MakeSuite, store: ScoresStore) -> None:
    suite = make_suite(2)
    first = plan_run(find_model("empty", store), request(suite)).begin(store)
    for each in suite.evals:
        answer(store, first.id, each.id, Outcome("passed"))
    again = plan_regrading(store.find_run(first.id), request(suite), store).begin(store)
    rest = plan_rest(store.find_run(again.id), suite, store)
    assert [each.stored.run for each in rest.work if each.stored] == [first.id, first.id]


def test_a_request_for_some_evals_plans_only_those(make_suite: MakeSuite, store: ScoresStore) -> None:
    suite = make_suite(3)
    chosen = replace(request(suite), evals=suite.evals[1:2])
    assert names(plan_run(find_model("reference", store), chosen).work) == [("001-hello", 1, False)]


SUITE = SuiteSettings(date(2026, 11, 1), ("*.ts",))


def test_what_was_not_asked_for_is_what_the_suite_says() -> None:
    completed = GradingOptions().completed(SUITE)
    assert (completed.packages_before, completed.answer_files) == (date(2026, 11, 1), ("*.ts",))


def test_what_was_asked_for_wins() -> None:
    asked = GradingOptions(packages_before=date(2025, 1, 1), answer_files=("**/*",))
    assert asked.completed(SUITE) == asked


def test_options_come_back_from_the_record_but_the_key_must_be_given_again() -> None:
    options = GradingOptions(backend="http://127.0.0.1:1", admin_key="secret", linter="eslint")
    recorded = options_json(options)
    assert "secret" not in str(recorded)
    assert options_from_json(recorded, "secret") == options


def test_a_record_of_an_older_version_lacks_options_that_came_later() -> None:
    assert options_from_json({"linter": "eslint"}, None) == GradingOptions(linter="eslint")


def test_the_fingerprint_changes_with_an_option_and_not_with_the_key() -> None:
    plain = pipeline_fingerprint(GradingOptions())
    assert plain == pipeline_fingerprint(GradingOptions(admin_key="secret"))
    assert plain != pipeline_fingerprint(GradingOptions(compiler="5.9"))
