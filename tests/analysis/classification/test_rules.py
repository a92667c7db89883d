"""Every rule with cases in which it speaks and cases in which it does not."""

from typing import Any

import pytest

from convex_evals.analysis.classification.rules import RULES, Rule, RulesEngine, complaints_of
from convex_evals.analysis.classification.rules.ambiguity import another_reading, missing_detail
from convex_evals.analysis.classification.rules.entailment import (
    mentioned,
    other_constant,
    unstated_constant,
    unstated_situation,
)
from convex_evals.analysis.classification.rules.gate import nothing_to_judge, outside_trouble, says_nothing
from convex_evals.analysis.classification.rules.mistakes import (
    broken_lint,
    broken_types,
    forbidden_by_task,
    invented_api,
    missing_set_up,
    unrequested_file,
    wrong_behaviour,
)
from convex_evals.analysis.classification.rules.sameness import (
    configuration_only,
    graders_own_file,
    plain,
    reference_fails_too,
    same_as_reference,
    unstable_verdict,
)
from convex_evals.analysis.classification.rules.strictness import (
    declarations_beyond_the_task,
    exact_layout,
    exact_wording,
    licensed_by_task,
    lint_of_taste,
    stricter_input_check,
)
from convex_evals.analysis.classification.types import Fault
from convex_evals.analysis.evidence import (
    Cause,
    Counterfactuals,
    Demand,
    Evidence,
    OtherModel,
    Parity,
    Repeats,
    UnknownSymbol,
)
from convex_evals.analysis.facts import error_line
from convex_evals.analysis.lint import is_taste
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.verdicts import FailureClass, StepName


def failing(step: StepName = "tests", error: str = "", **more: object) -> Evidence:
    known: dict[str, object] = {"diagnostics": (Diagnostic(step, error),) if error else (), **more}
    return Evidence(failed_step=step, error=error, **known)  # type: ignore[arg-type]


def compared(expected: str, received: str, **more: object) -> Evidence:
    test = Diagnostic("tests", "they differ", name="test_it", expected=expected, received=received)
    return failing(diagnostics=(test,), **more)


def linted(*rules: str, **more: object) -> Evidence:
    return failing("eslint", diagnostics=tuple(Diagnostic("eslint", "no", name=rule) for rule in rules), **more)


def typed(*messages: str, **more: object) -> Evidence:
    found = tuple(Diagnostic("tsc", message, fingerprint=message) for message in messages)
    return failing("tsc", diagnostics=found, **more)


def declared(**more: object) -> Evidence:
    return failing(error="function spec mismatch", **more)


def snippets(model: str, expected: str, found: str = "stated") -> Cause:
    return Cause(found, model, expected)  # type: ignore[arg-type]


GUARD = snippets('if (args.limit < 0) throw new Error("negative");', "return take(args.limit);")
REFUSED = "Uncaught Error: negative"
SPEC = Counterfactuals(behaviour_passes=True, demands=(Demand("returns", stated=False),))
BEHAVES = Counterfactuals(behaviour_passes=True)
TYPES = "Type 'string' is not assignable to type 'number'."
PROCESS = "Cannot find name 'process'. Do you need to install types?"
ENDS = snippets('q.lt("at", to)', 'q.lte("at", to)')
TIE_BREAK = snippets("best.sort((a, b) => b.n - a.n)", "best.sort((a, b) => b.n - a.n || a.name.localeCompare(b.name))")
TIED = '[{"id": 1, "n": 9}, {"id": 2, "n": 9}, {"id": 3, "n": 4}]'
TIED_OTHERWISE = '[{"id": 2, "n": 9}, {"id": 1, "n": 9}, {"id": 3, "n": 4}]'
ADDED = snippets("returns: v.array(v.any()), args: {}", "args: {}")

CODES = snippets('throw new ConvexError({ code: "NO_SEATS" })', 'throw new ConvexError({ code: "FULL" })')
NAMES = snippets("export const reserve = mutation(", "export const take = mutation(")
FIELDS = snippets("{ owner: user }", "{ takenBy: user }")
EMPTY = snippets("await send(text);", 'if (text.trim() === "") return;\nawait send(text);')


def in_the_grader(message: str, **known: Any) -> Evidence:
    return failing("tsc", message, diagnostics=(Diagnostic("tsc", message, file="../grader.test.ts"),), **known)


SPEAKS: list[tuple[Rule, Evidence, Fault]] = [
    (outside_trouble, failing(error="fetch failed"), "nobody"),
    (outside_trouble, failing(error="received status 503 from api.example.com"), "nobody"),
    (outside_trouble, failing(error="api.example.com timed out"), "nobody"),
    (outside_trouble, failing(error="The backend did not become ready in time."), "nobody"),
    (nothing_to_judge, failing("deploy", "Failed to deploy.", gaps="Something is known."), "model"),
    (nothing_to_judge, failing("deploy"), "model"),
    (reference_fails_too, typed(TYPES, parity=Parity((TYPES,))), "check"),
    (configuration_only, typed(PROCESS, parity=Parity((), configuration_cures=True)), "model"),
    (invented_api, failing("deploy", "no", unknown_symbols=(UnknownSymbol("tuple", "v"),)), "model"),
    (same_as_reference, failing(cause=snippets("f(1, 2);", "f(1,\n  2)")), "check"),
    (same_as_reference, failing(files={"a.ts": "x // y\n"}, answer={"a.ts": "x\n"}), "check"),
    (unstable_verdict, failing(counterfactuals=Counterfactuals(same_answer=Repeats(2, 1))), "check"),
    (graders_own_file, in_the_grader("Cannot find module 'some-runner'"), "check"),
    (exact_wording, compared("an error including 'No seat'", "Server Error: full", task="It fails."), "check"),
    (
        unrequested_file,
        failing(
            "tsc",
            diagnostics=(Diagnostic("tsc", "no", file="src/Extra.tsx"),),
            answer={"convex/a.ts": "x"},
            task="Write `convex/a.ts`.",
        ),
        "model",
    ),
    (missing_set_up, typed(PROCESS), "model"),
    (lint_of_taste, linted("prefer-const"), "check"),
    (licensed_by_task, linted("@typescript-eslint/no-explicit-any", task="Return the body as any."), "check"),
    (broken_lint, linted("@typescript-eslint/no-explicit-any"), "model"),
    (broken_types, typed(TYPES), "model"),
    (forbidden_by_task, declared(task="DO NOT add a `returns` validator.", cause=ADDED), "model"),
    (declarations_beyond_the_task, declared(task="Return all.", counterfactuals=SPEC), "check"),
    (stricter_input_check, failing(error=REFUSED, cause=GUARD, task="Return so many rows."), "check"),
    (
        exact_wording,
        failing(error='expected error message to equal "Not found"', task="Unknown ids are refused."),
        "check",
    ),
    (exact_wording, compared("an error with 'Not there'", "Uncaught Error: It is gone", task="It fails."), "check"),
    (exact_layout, compared('{"a": []}', '{"a":[]}'), "check"),
    (another_reading, compared("[1, 2]", "[2, 1]", task="Return the numbers."), "task"),
    (another_reading, compared("None", "[]", task="Return the profile."), "task"),
    (another_reading, compared('{"total": 3}', '{"count": 3}', task="Return how many."), "task"),
    (another_reading, compared("90000", "90", task="Return how long it took."), "task"),
    (another_reading, compared("3.33", "3.3333333", task="Return the mean."), "task"),
    (another_reading, compared("[1, 2, 3]", "[1, 2]", task="Return what lies between the two.", cause=ENDS), "task"),
    (another_reading, compared('"Ada"', '"ada"', task="Return the name."), "task"),
    (another_reading, compared('{"mean": 1.5, "n": 2}', '{"mean": 2, "n": 2}', task="Return the mean and n."), "task"),
    (another_reading, compared("[1, 2]", "[2, 1] (both are there)", task="Return the numbers."), "task"),
    (another_reading, compared(TIED, TIED_OTHERWISE, task="The most points come first."), "task"),
    (another_reading, compared('["a", "b"]', '["b", "a"]', task="The best comes first.", cause=TIE_BREAK), "task"),
    (another_reading, failing(error="milliseconds were expected, and seconds came", task="Return how long."), "task"),
    (another_reading, failing(error="wrong", task="Return what lies between the two.", cause=ENDS), "task"),
    (
        missing_detail,
        failing(
            counterfactuals=Counterfactuals(
                demands=(Demand("slug", stated=False),), other_models=(OtherModel("m", "r", passed=False),)
            ),
            error="no slug",
        ),
        "task",
    ),
    (
        unstated_constant,
        compared("{ code: 'FULL' }", "{ code: 'NO_SEATS' }", task="It throws when there is no seat.", cause=CODES),
        "check",
    ),
    (
        unstated_constant,
        failing(error="Could not find function 'seats:take'", task="Reserve one.", cause=NAMES),
        "check",
    ),
    (
        unstated_constant,
        compared(
            '{ kind: "weekly" }',
            '{ kind: "cron" }',
            task="It runs each Monday.",
            cause=snippets("jobs.cron(f)", "jobs.weekly(f)"),
        ),
        "check",
    ),
    (unstated_constant, failing(error="missing field 'takenBy'", task="Store who took it.", cause=FIELDS), "task"),
    (
        other_constant,
        compared("a-b", "a_b", task="Make a key of the name.", cause=snippets('join("_")', 'join("-")')),
        "task",
    ),
    (
        exact_wording,
        failing(
            error="wanted /No seat left/, got Uncaught Error: full",
            task="It throws if there is no room.",
            cause=snippets('throw new Error("full")', 'throw new Error("No seat left")'),
        ),
        "check",
    ),
    (
        unstated_situation,
        failing(error="expected 0 calls, received 1", task="It stores the text.", cause=EMPTY),
        "task",
    ),
    (wrong_behaviour, compared("3", "4"), "model"),
]

SILENT: list[tuple[Rule, Evidence]] = [
    (outside_trouble, failing(error="expected 503, received 200")),
    (nothing_to_judge, failing("deploy", "v.tuple is not a function")),
    (outside_trouble, failing(error="the function timed out")),
    (nothing_to_judge, failing("deploy", "Failed to deploy.", cause=snippets("f(1)", "f(2)"))),
    (reference_fails_too, typed(TYPES, parity=Parity(("another complaint",)))),
    (configuration_only, typed(PROCESS, parity=Parity((), configuration_cures=False))),
    (invented_api, failing()),
    (same_as_reference, failing(cause=snippets("f(1)", "f(2)"))),
    (same_as_reference, failing("deploy", "syntax error", cause=snippets("},\n)", "})"))),
    (same_as_reference, failing()),
    (unstable_verdict, failing(counterfactuals=Counterfactuals(same_answer=Repeats(0, 3)))),
    (graders_own_file, in_the_grader("Property 'add' does not exist on type '{}'.")),
    (graders_own_file, typed("Cannot find module 'some-package'")),
    (unrequested_file, in_the_grader("Cannot find module 'some-runner'", task="Write `a.ts`.", answer={"a.ts": ""})),
    (exact_wording, compared("an error including 'No seat'", "Server Error: full", task="It fails with No seat.")),
    (exact_wording, failing(error="promise resolved 'a text' instead of rejecting", task="It fails.")),
    (
        unrequested_file,
        failing(
            diagnostics=(Diagnostic("tests", "no", file="convex/a.ts"),), answer={"convex/a.ts": "x"}, task="Write it."
        ),
    ),
    (
        unrequested_file,
        failing(
            "tsc",
            diagnostics=(Diagnostic("tsc", "no", file="convex/tokens.ts"),),
            answer={"convex/a.ts": "x"},
            task="Write `convex/a.ts`. The tables and other files are up to you.",
        ),
    ),
    (lint_of_taste, linted("@typescript-eslint/no-explicit-any")),
    (lint_of_taste, linted("@typescript-eslint/no-unused-vars")),
    (lint_of_taste, linted("prefer-const", counterfactuals=Counterfactuals(passes_without_lint=False))),
    (licensed_by_task, linted("no-explicit-any", task="Do not create any more functions.")),
    (licensed_by_task, linted("no-unsafe-return", task="`data: any`; satisfy no-unsafe-return.")),
    (forbidden_by_task, declared(task="Add a `returns` validator.", cause=ADDED)),
    (declarations_beyond_the_task, declared(counterfactuals=Counterfactuals(behaviour_passes=False))),
    (declarations_beyond_the_task, declared(task="With a returns validator.", counterfactuals=BEHAVES, cause=ADDED)),
    (stricter_input_check, failing(error=REFUSED, cause=GUARD, task="When limit is negative the result is empty.")),
    (stricter_input_check, failing(error="expected 3, received 4", cause=GUARD)),
    (stricter_input_check, failing(error=REFUSED, cause=snippets("return 1;", "return 2;"))),
    (exact_wording, failing(error='expected error message to equal "Not found"', task='Throw "Not found".')),
    (another_reading, compared("[1, 2]", "[2, 1]", task="Return the numbers in ascending order.")),
    (another_reading, compared("[1, 2]", "[1, 3]", task="Return the numbers.")),
    (
        another_reading,
        compared('["a", "b"]', '["b", "a"]', task="The best first, ties by name, sorted.", cause=TIE_BREAK),
    ),
    (another_reading, compared('[{"n": 2}, {"n": 1}]', '[{"n": 1}, {"n": 2}]', task="The highest comes first.")),
    (another_reading, compared("[1, 2, 3]", "[1, 2]", task="Return what lies between the two.")),
    (exact_layout, compared('{"a": []}', '{"b":[]}')),
    (other_constant, compared("a-b", "a_b", task="Hyphens join them.", cause=snippets('join("_")', 'join("-")'))),
    (other_constant, compared("7", "9", task="The first 7 of them.", cause=snippets("take(9)", "take(7)"))),
    (other_constant, compared("7", "9", task="Some of them.", cause=snippets("take(9)", "first(7)"))),
    (same_as_reference, failing(error="no a.b", cause=snippets("// x/b.ts\nf(1);", "// x/a.ts\nf(1);"))),
    (unstated_constant, compared("{ code: 'FULL' }", "'FULL'", task='Throws "FULL".', cause=CODES)),
    (unstated_constant, compared("'a text of the test'", "'another'", task="Return it.", cause=CODES)),
    (unstated_constant, failing("deploy", "Could not find module 'take'", task="Reserve one.", cause=NAMES)),
    (unstated_situation, failing(error="expected 0, received 1", task="Empty texts are ignored.", cause=EMPTY)),
    (unstated_situation, failing(error="expected 0, received 1", task="Store it.", cause=snippets("f()", "g()"))),
    (
        stricter_input_check,
        failing(error="the promise resolved instead of rejecting", cause=snippets("if (a < 0) throw new E();", "")),
    ),
    (another_reading, compared("1.25", "1", task="Return the average.", cause=snippets("Math.round(a / b)", "a / b"))),
    (another_reading, compared("[1, 2]", "[2, 1]", task="From the first down to the last.")),
    (another_reading, compared("None", "[]", task="Return null when there is none.")),
    (another_reading, compared('{"total": 3}', '{"count": 4}', task="Return how many.")),
    (another_reading, compared('{"hours": 1}', '{"minutes": 1}', task="Run it every hour.")),
    (another_reading, compared("90000", "90", task="Return how many milliseconds it took.")),
    (another_reading, failing(error="nothing came for 30 seconds", task="Return how long it took.")),
    (another_reading, compared('{"a": 1.5, "b": 2}', '{"a": 2, "b": 3}', task="Return the averages.")),
    (
        missing_detail,
        failing(
            counterfactuals=Counterfactuals(
                demands=(Demand("slug", stated=False),), other_models=(OtherModel("m", "r", passed=True),)
            )
        ),
    ),
]


@pytest.mark.parametrize(("rule", "evidence", "fault"), SPEAKS)
def test_a_rule_judges_the_cases_it_knows(rule: Rule, evidence: Evidence, fault: Fault) -> None:
    found = next((said for each in complaints_of(evidence) if (said := rule(each, evidence))), None)
    assert found is not None
    assert (found.fault, found.rule) == (fault, rule.__name__)  # type: ignore[attr-defined]
    assert found.summary
    assert found.because, "the report says which evidence decided"
    assert 1 <= found.reasoning.count(". ") + 1 <= 4


@pytest.mark.parametrize("message", ["Property 'x' does not exist on type 'never'.", "no such thing"])
async def test_a_reason_ends_with_one_full_stop(message: str) -> None:
    for step in ("tsc", "tests", "install"):
        found = await RulesEngine().classify(failing(step, message))
        assert ".." not in found.reasoning
        assert f"{message.rstrip('.')}." in found.reasoning


WRITERS = "Writers never get in one another's way: however many appends run, each of them is executed once."


def test_a_wrong_behaviour_is_explained_by_the_sentence_of_the_task_and_by_the_message_where_values_look_alike() -> (
    None
):
    test = Diagnostic(
        "tests",
        "6 appends at the same time were executed 11 times\nassert [...] == [...]",
        "test_writers_are_never_executed_twice",
        expected=repr(["feed:append"] * 6),
        received=repr(["feed:append"] * 11),
        assertion='assert executed == ["feed:append"] * 6',
    )
    demands = Counterfactuals(demands=(Demand("append", stated=True),))
    task = f"- `append` is a mutation. It returns null.\n- {WRITERS}\n"
    evidence = failing(diagnostics=(test,), task=task, counterfactuals=demands)
    opinion = wrong_behaviour(complaints_of(evidence)[0], evidence)
    assert opinion is not None
    assert opinion.summary.endswith(": 6 appends at the same time were executed 11 times")
    assert opinion.because == f"the task: “{WRITERS}”"
    assert opinion.reasoning.endswith(f"executed 11 times. The task says: “{WRITERS}”")
    assert error_line(evidence) == f"{test.name}: 6 appends at the same time were executed 11 times"


@pytest.mark.parametrize(("rule", "evidence"), SILENT)
def test_a_rule_is_silent_about_everything_else(rule: Rule, evidence: Evidence) -> None:
    assert not any(rule(each, evidence) for each in complaints_of(evidence))


@pytest.mark.parametrize(
    ("task", "share"), [("Free seats are counted.", 1.0), ("Seats.", 0.5), ("Something else.", 0.0), ("", 0.5)]
)
def test_how_much_of_what_a_test_is_about_the_task_mentions(task: str, share: float) -> None:
    test = Diagnostic("tests", "no", name="test_free_seats")
    assert mentioned(failing(diagnostics=(test,), task=task)) == share


def test_every_rule_has_a_case_that_it_judges() -> None:
    assert {rule.__name__ for rule in RULES} == {rule.__name__ for rule, _, _ in SPEAKS}  # type: ignore[attr-defined]


GAP = "- `no-misused-promises` fires on async handlers."
CASES: list[tuple[str, Evidence, FailureClass, Fault, bool]] = [
    ("unclassified", failing("install", "There is no package by that name."), "MODEL_FAULT", "model", False),
    ("behaviour", compared("3", "4", task="Return the number of rows."), "MODEL_FAULT", "model", False),
    ("a documented rule", linted("x/no-misused-promises", gaps=GAP), "KNOWN_GAP", "model", True),
    (
        "one documented rule and one that is not",
        linted("x/no-misused-promises", "no-explicit-any", gaps=GAP),
        "MODEL_FAULT",
        "model",
        False,
    ),
    (
        "a documented rule and one of taste",
        linted("x/no-misused-promises", "no-undef", gaps=GAP),
        "KNOWN_GAP",
        "model",
        True,
    ),
    ("only taste", linted("prefer-const", "no-undef"), "OVERLY_STRICT", "check", False),
    ("taste and a mistake", linted("prefer-const", "no-floating-promises"), "MODEL_FAULT", "model", False),
    ("the network", failing(error="connect ECONNREFUSED 10.0.0.1:443"), "OVERLY_STRICT", "nobody", False),
    (
        "any gap at all",
        failing("deploy", "Failed to deploy.", gaps="- Forgets the index."),
        "MODEL_FAULT",
        "model",
        False,
    ),
]


@pytest.mark.parametrize(("evidence", "failure_class", "fault", "documented"), [each[1:] for each in CASES])
async def test_the_worst_complaint_of_the_models_own_decides(
    evidence: Evidence, failure_class: FailureClass, fault: Fault, documented: bool
) -> None:
    found = await RulesEngine().classify(evidence)
    assert (found.failure_class, found.fault, found.documented) == (failure_class, fault, documented)
    assert found.decided_by


async def test_a_failure_that_is_nobodys_fault_needs_a_look() -> None:
    assert (await RulesEngine().classify(failing(error="fetch failed"))).unsure


@pytest.mark.parametrize(
    ("error", "nothing"),
    [("Failed to deploy", True), ("", True), ("exit code", True), ("v.tuple is not a function", False)],
)
def test_complaints_without_content_are_recognised(error: str, nothing: bool) -> None:
    assert says_nothing(failing("deploy", error)) is nothing


def test_layout_and_comments_are_not_differences() -> None:
    assert plain("f(1, 2); // two\n/* x */") == plain("f(\n  1,\n  2,\n)")
    assert plain('fetch("http://a")') != plain('fetch("http:")')


@pytest.mark.parametrize(("rule", "taste"), [("@typescript-eslint/prefer-readonly", True), ("no-explicit-any", False)])
def test_rules_of_taste_are_known_by_name_whatever_their_plug_in(rule: str, taste: bool) -> None:
    assert is_taste(rule) is taste
