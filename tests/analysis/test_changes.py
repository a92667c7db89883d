"""Recommended changes: which there are, what they would write, and how they are taken back."""

import json
from collections.abc import Callable

import pytest

from convex_evals.analysis.changes import Change, find_change, plan_edit, recommend_changes
from convex_evals.analysis.report import FailureReport, Report
from convex_evals.core.errors import UsageError
from convex_evals.suite import Suite, load_suite

EVAL = "000-basics/000-hello"
RULE = "@typescript-eslint/no-misused-promises"


def change(kind: str, text: str = "", rules: tuple[str, ...] = ()) -> Change:
    return Change("R1", kind, EVAL, "Why.", rules, text)  # type: ignore[arg-type]


def test_only_what_is_not_the_models_own_is_to_be_changed(make_failure: Callable[..., FailureReport]) -> None:
    unfair = make_failure("a/strict", "OVERLY_STRICT")
    linted = make_failure("a/lint", "KNOWN_GAP", failed_step="eslint", causes=(f"lint:{RULE}",))
    found = recommend_changes([make_failure("a/model"), unfair, unfair, linted])
    assert [(each.id, each.kind, each.eval) for each in found] == [
        ("R1", "task", "a/strict"),
        ("R2", "gap", "a/strict"),
        ("R3", "lint", "a/lint"),
    ]
    assert found[1].text == "- [check] It returns 2."
    assert found[2].rules == (RULE,)


def test_an_unknown_recommendation_is_named(make_report: Callable[..., Report]) -> None:
    with pytest.raises(UsageError, match="no recommendation 'R7' that can be applied; it has R1"):
        find_change(make_report(changes=(change("gap", "- x"),)), "R7")


def test_a_gap_becomes_a_line_of_its_own_and_can_be_taken_back(hello_suite: Suite) -> None:
    asked = hello_suite.evals[1]
    edit = plan_edit(change("gap", "- [check] The comparison is picky."), asked)
    assert edit.patch().splitlines()[-1] == "+- [check] The comparison is picky."
    edit.make()
    assert (asked.path / "GAPS.txt").read_text() == edit.after
    with pytest.raises(UsageError, match="R1 is made already"):
        plan_edit(change("gap", "- [check] The comparison is picky."), asked)
    edit.undo()
    assert (asked.path / "GAPS.txt").read_text() == edit.before


def test_a_file_that_was_not_there_is_gone_again(hello_suite: Suite) -> None:
    edit = plan_edit(change("gap", "- It is known."), hello_suite.evals[0])
    assert edit.patch().startswith("--- /dev/null\n")
    edit.make()
    edit.undo()
    assert not edit.path.exists()


def test_a_rule_is_left_out_in_the_eval_alone(hello_suite: Suite) -> None:
    asked = hello_suite.evals[0]
    plan_edit(change("lint", rules=(RULE,)), asked).make()
    assert json.loads((asked.path / "eval.json").read_text()) == {"pipeline": "static", "lintOff": [RULE]}
    again = load_suite(hello_suite.root).evals[0]
    assert again.lint_off == (RULE,)
    assert again.fingerprints.grader != asked.fingerprints.grader, "results of both are told apart"
    with pytest.raises(UsageError, match="made already"):
        plan_edit(change("lint", rules=(RULE,)), again)


def test_a_sentence_of_the_task_must_be_given(hello_suite: Suite) -> None:
    with pytest.raises(UsageError, match="give the sentence with --text"):
        plan_edit(change("task"), hello_suite.evals[0])
    edit = plan_edit(change("task"), hello_suite.evals[0], "End with a newline.")
    assert edit.after == "Say hello to the world.\n\nEnd with a newline.\n"
