"""Every rule with cases in which it speaks and cases in which it does not."""

import pytest

from convex_evals.analysis.classification.rules import RULES, RulesEngine
from convex_evals.analysis.classification.rules.ambiguity import another_reading, missing_detail
from convex_evals.analysis.classification.rules.gaps import (
    documented_gap,
    plain,
    same_as_reference,
    says_nothing,
    undocumented_failure,
    unstable_verdict,
)
from convex_evals.analysis.classification.rules.mistakes import (
    broken_types_or_lint,
    invented_api,
    types_of_the_environment,
)
from convex_evals.analysis.classification.rules.rule import Rule
from convex_evals.analysis.classification.rules.strictness import (
    declarations_beyond_the_task,
    exact_wording,
    is_taste,
    lint_of_taste,
    stricter_input_check,
)
from convex_evals.analysis.evidence import (
    Cause,
    Counterfactuals,
    Demand,
    Evidence,
    GapMatch,
    OtherModel,
    Repeats,
    UnknownSymbol,
)
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.verdicts import FailureClass, StepName


def failing(step: StepName = "tests", error: str = "", **more: object) -> Evidence:
    return Evidence(failed_step=step, error=error, **more)  # type: ignore[arg-type]


def compared(expected: str, received: str, **more: object) -> Evidence:
    test = Diagnostic("tests", "they differ", name="test_it", expected=expected, received=received)
    return failing(diagnostics=(test,), **more)


def linted(*rules: str, **more: object) -> Evidence:
    return failing("eslint", diagnostics=tuple(Diagnostic("eslint", "no", name=rule) for rule in rules), **more)


def typed(*messages: str) -> Evidence:
    return failing("tsc", diagnostics=tuple(Diagnostic("tsc", message) for message in messages))


def snippets(model: str, expected: str, found: str = "stated") -> Cause:
    return Cause(found, model, expected)  # type: ignore[arg-type]


GUARD = snippets('if (args.limit < 0) throw new Error("negative");', "return take(args.limit);")
REFUSED = "Uncaught Error: negative"
SPEC = Counterfactuals(behaviour_passes=True, demands=(Demand("returns", stated=False),))

SPEAKS: list[tuple[Rule, Evidence, FailureClass]] = [
    (documented_gap, failing(gap=GapMatch("It may come in any order.", ("order",), 0.6)), "KNOWN_GAP"),
    (undocumented_failure, failing("deploy", "Failed to deploy.", gaps="Deploys fail at times."), "KNOWN_GAP"),
    (undocumented_failure, failing("deploy", "exit status 1", cause=snippets("f();", "f()")), "KNOWN_GAP"),
    (invented_api, failing("deploy", unknown_symbols=(UnknownSymbol("tuple", "v"),)), "MODEL_FAULT"),
    (same_as_reference, failing(cause=snippets("f(1, 2);", "f(1,\n  2)")), "OVERLY_STRICT"),
    (same_as_reference, failing(files={"a.ts": "x // y\n"}, answer={"a.ts": "x\n"}), "OVERLY_STRICT"),
    (unstable_verdict, failing(counterfactuals=Counterfactuals(same_answer=Repeats(2, 1))), "OVERLY_STRICT"),
    (types_of_the_environment, typed("Cannot find name 'process'. Do you need to install types?"), "OVERLY_STRICT"),
    (lint_of_taste, linted("prefer-const", "@typescript-eslint/no-unused-vars"), "OVERLY_STRICT"),
    (broken_types_or_lint, linted("@typescript-eslint/no-explicit-any"), "MODEL_FAULT"),
    (broken_types_or_lint, typed("Type 'string' is not assignable to type 'number'."), "MODEL_FAULT"),
    (declarations_beyond_the_task, failing(task="Return all.", counterfactuals=SPEC), "OVERLY_STRICT"),
    (stricter_input_check, failing(error=REFUSED, cause=GUARD, task="Return so many rows."), "OVERLY_STRICT"),
    (
        exact_wording,
        failing(error='expected error message to equal "Not found"', task="Unknown ids are refused."),
        "OVERLY_STRICT",
    ),
    (another_reading, compared("[1, 2]", "[2, 1]", task="Return the numbers."), "AMBIGUOUS_TASK"),
    (another_reading, compared("None", "[]", task="Return the profile."), "AMBIGUOUS_TASK"),
    (another_reading, compared('{"total": 3}', '{"count": 3}', task="Return how many."), "AMBIGUOUS_TASK"),
    (
        missing_detail,
        failing(counterfactuals=Counterfactuals(demands=(Demand("slug", stated=False),)), error="no slug"),
        "AMBIGUOUS_TASK",
    ),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (documented_gap, failing(gap=GapMatch("Something else.", (), 0.2))),
    (documented_gap, failing()),
    (undocumented_failure, failing("deploy", "v.tuple is not a function", gaps="Deploys fail at times.")),
    (undocumented_failure, failing("deploy", "Failed to deploy.")),
    (invented_api, failing()),
    (same_as_reference, failing(cause=snippets("f(1)", "f(2)"))),
    (same_as_reference, failing()),
    (unstable_verdict, failing(counterfactuals=Counterfactuals(same_answer=Repeats(0, 3)))),
    (types_of_the_environment, typed("Cannot find name 'process'.", "Type 'a' is not assignable to type 'b'.")),
    (lint_of_taste, linted("prefer-const", "@typescript-eslint/no-explicit-any")),
    (lint_of_taste, linted("prefer-const", counterfactuals=Counterfactuals(passes_without_lint=False))),
    (declarations_beyond_the_task, failing(counterfactuals=Counterfactuals(behaviour_passes=False))),
    (
        declarations_beyond_the_task,
        failing(task="With a returns validator.", counterfactuals=Counterfactuals(behaviour_passes=True)),
    ),
    (stricter_input_check, failing(error=REFUSED, cause=GUARD, task="When limit is negative the result is empty.")),
    (stricter_input_check, failing(error="expected 3, received 4", cause=GUARD)),
    (stricter_input_check, failing(error=REFUSED, cause=snippets("return 1;", "return 2;"))),
    (exact_wording, failing(error='expected error message to equal "Not found"', task='Throw "Not found".')),
    (another_reading, compared("[1, 2]", "[2, 1]", task="Return the numbers in ascending order.")),
    (another_reading, compared("[1, 2]", "[1, 3]", task="Return the numbers.")),
    (another_reading, compared("None", "[]", task="Return null when there is none.")),
    (another_reading, compared('{"total": 3}', '{"count": 4}', task="Return how many.")),
    (
        missing_detail,
        failing(
            counterfactuals=Counterfactuals(
                demands=(Demand("slug", stated=False),), other_models=(OtherModel("m", "r", passed=True),)
            )
        ),
    ),
]


@pytest.mark.parametrize(("rule", "evidence", "expected"), SPEAKS)
def test_a_rule_speaks_of_what_it_knows(rule: Rule, evidence: Evidence, expected: FailureClass) -> None:
    found = rule(evidence)
    assert found is not None
    assert (found.failure_class, found.rule) == (expected, rule.__name__)
    assert 0 < found.confidence < 1
    assert found.summary
    assert 1 <= found.reasoning.count(". ") + 1 <= 4


@pytest.mark.parametrize(("rule", "evidence"), SILENT)
def test_a_rule_is_silent_about_everything_else(rule: Rule, evidence: Evidence) -> None:
    assert rule(evidence) is None


def test_every_rule_has_a_case_in_which_it_speaks() -> None:
    assert {rule.__name__ for rule in RULES} - {rule.__name__ for rule, _, _ in SPEAKS} == {"wrong_behaviour"}


async def test_what_no_rule_knows_is_the_answers_fault() -> None:
    found = await RulesEngine().classify(failing("install", "There is no package by that name."))
    assert (found.failure_class, found.rule) == ("MODEL_FAULT", "whatever_else")


async def test_a_failed_test_of_behaviour_is_the_answers_fault() -> None:
    found = await RulesEngine().classify(compared("3", "4", task="Return the number of rows."))
    assert (found.failure_class, found.rule) == ("MODEL_FAULT", "wrong_behaviour")


async def test_what_is_ours_anyway_is_a_known_gap_when_gaps_hint_at_it() -> None:
    evidence = linted("prefer-const", gap=GapMatch("prefer-const is pointless here.", ("prefer-const",), 0.35))
    assert (await RulesEngine().classify(evidence)).failure_class == "KNOWN_GAP"


@pytest.mark.parametrize(
    ("error", "nothing"),
    [("Failed to deploy", True), ("", True), ("exit code", True), ("v.tuple is not a function", False)],
)
def test_complaints_without_content_are_recognised(error: str, nothing: bool) -> None:
    assert says_nothing(failing("deploy", error)) is nothing


def test_layout_and_comments_are_no_difference() -> None:
    assert plain("f(1, 2); // two\n/* x */") == plain("f(\n  1,\n  2,\n)")
    assert plain('fetch("http://a")') != plain('fetch("http:")')


@pytest.mark.parametrize(("rule", "taste"), [("@typescript-eslint/no-unused-vars", True), ("no-explicit-any", False)])
def test_rules_of_taste_are_known_by_name_whatever_their_plug_in(rule: str, taste: bool) -> None:
    assert is_taste(rule) is taste
