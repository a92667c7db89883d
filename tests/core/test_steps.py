from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult

EXCERPT = "✖ Error: Unable to start push to http://127.0.0.1:1\n✖ Error fetching POST\nUncaught TypeError: no"


def test_a_failed_deployment_says_the_reason_first_and_where_it_is() -> None:
    found = Diagnostic(
        "deploy", "Uncaught TypeError: no\n    at ../convex/schema.ts:25:15", file="convex/schema.ts", line=25
    )
    step = StepResult("deploy", "failed", excerpt=EXCERPT, diagnostics=(found,))
    assert step.cause == "Uncaught TypeError: no (convex/schema.ts:25)"


def test_other_steps_say_what_their_tools_said() -> None:
    assert StepResult("tsc", "failed", excerpt="index.ts(1,1): error").cause == "index.ts(1,1): error"
    assert StepResult("deploy", "failed", excerpt=EXCERPT).cause == EXCERPT
