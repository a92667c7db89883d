from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from convex_evals.analysis.evidence import Action
from convex_evals.analysis.patterns import find_patterns, find_trends, read_reports, title_of
from convex_evals.analysis.report import FailureReport, Report, keep_report, report_paths

MakeFailure = Callable[..., FailureReport]
LINT, API = "lint:no-explicit-any", "api:v has no tuple"
MakeReport = Callable[..., Report]


def test_failures_that_share_a_cause_are_one_pattern(make_failure: MakeFailure) -> None:
    failures = [
        make_failure("a/1", causes=(LINT, "lint:no-unsafe-call")),
        make_failure("a/2", causes=("lint:no-unsafe-call", LINT)),
        make_failure("b/3", causes=(LINT,)),
        make_failure("b/4", causes=("test:x",)),
    ]
    (pattern,) = find_patterns(failures, Counter(a=9, b=9))
    assert (pattern.title, pattern.evals) == ("Lint rule no-explicit-any", ("a/1", "a/2", "b/3"))


def test_different_inventions_are_one_pattern_of_guessing(make_failure: MakeFailure) -> None:
    failures = [make_failure("a/1", causes=(API,)), make_failure("a/2", causes=("api:ctx.db has no find",))]
    (pattern,) = find_patterns(failures, Counter(a=9, b=9))
    assert pattern.title == "The API surface is guessed"
    assert "v has no tuple and ctx.db has no find" in pattern.detail


def test_gaps_strictness_hard_categories_and_repeats_are_reported(make_failure: MakeFailure) -> None:
    failures = [
        make_failure("a/1", "KNOWN_GAP", causes=("test:1",), repeat=True, cure="done"),
        make_failure("a/2", "OVERLY_STRICT", causes=("test:2",)),
        make_failure("a/3", causes=("test:3",)),
    ]
    titles = [pattern.title for pattern in find_patterns(failures, Counter(a=4, b=4))]
    assert titles == ["Known gaps", "The eval asks for more than its task", "a is hard", "Recurring failures"]


def test_a_fingerprint_reads_as_words() -> None:
    assert title_of("deploy:refused Uncaught Error") == "Deployment refused: Uncaught Error"
    assert title_of("filesystem:empty-submission") == "filesystem:empty-submission"


def test_recurring_causes_come_first_and_resolved_ones_are_reported(
    make_report: MakeReport, make_failure: MakeFailure
) -> None:
    first = make_report(
        make_failure("a/1", causes=("lint:any",)),
        make_failure("a/2", causes=("test:x",)),
        actions=(Action("Said so in the guidelines.", "2026-02-12", evals=("a/2",)),),
    )
    second = make_report(make_failure("a/3", causes=("lint:any",)))
    second = replace(second, run=replace(second.run, id="b" * 32, date="2026-03-01"))
    recurring, gone = find_trends([first, second])
    assert (recurring.title, recurring.reports, recurring.present) == ("Lint rule any", 2, True)
    assert (recurring.evals, recurring.first, recurring.last) == (("a/1", "a/3"), "2026-02-11", "2026-03-01")
    assert (gone.cause, gone.present, gone.actions) == ("test:x", False, ("2026-02-12: Said so in the guidelines.",))


def test_what_fails_more_evals_comes_first(make_report: MakeReport, make_failure: MakeFailure) -> None:
    failures = [
        make_failure(f"a/{number}", causes=(cause,)) for number, cause in enumerate(("lint:any", "test:x", "test:x"))
    ]
    assert [each.cause for each in find_trends([make_report(*failures)])] == ["test:x", "lint:any"]


def test_the_newest_report_of_each_run_counts(make_report: MakeReport, tmp_path: Path) -> None:
    for day in ("2026-02-12", "2026-02-13"):
        report = make_report(date=day)
        keep_report(report, report_paths(tmp_path, "openai", "openai/gpt-x", report.run.id, day))
    (tmp_path / "openai/gpt-x/broken_2026.json").write_text("{")
    for name in ("openai/gpt-x", "gpt-x"):
        assert [report.date for report in read_reports(tmp_path, name)] == ["2026-02-13"]
    assert read_reports(tmp_path, "other") == ()
