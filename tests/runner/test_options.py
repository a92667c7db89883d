from datetime import date

from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner.options import options_from_json, options_json, pipeline_fingerprint
from convex_evals.suite import SuiteSettings

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
