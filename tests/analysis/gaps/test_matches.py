import pytest

from convex_evals.analysis.evidence import Cause, Evidence
from convex_evals.analysis.gaps import match_gap
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.verdicts import StepName


def failing(
    gaps: str, message: str = "", model: str = "", expected: str = "", task: str = "Routes.", step: StepName = "tests"
) -> Evidence:
    diagnostics = (Diagnostic(step, message),) if message else ()
    cause = Cause("isolated", model, expected)
    return Evidence(failed_step=step, error=message, diagnostics=diagnostics, cause=cause, gaps=gaps, task=task)


MATCHES = [
    ("the same API", failing("- .iter() again", "Property 'iter' does not exist", 'query("a").iter()', 'query("a")')),
    ("the same rule", failing("- `no-misused-promises` on handlers", "x/no-misused-promises: no", step="eslint")),
    (
        "the same function kind",
        failing("- uploads a file from a query", "Property 'upload' does not exist", "query({ upload(file) })"),
    ),
    (
        "what is wanted instead",
        failing('- `path: "/files/*"` instead of `pathPrefix`', "404", 'path: "/files/:name"', 'pathPrefix: "/files/"'),
    ),
    ("the same effect", failing("- bad at type declarations", "x.ts(1,1): error TS2345: no", step="tsc")),
    ("what is missing", failing('- doesn\'t know "use strict"', "", 'No `"use strict"`.', '`"use strict"`')),
]
DIFFERS = [
    ("another cause", failing("- Forgets the search index", "expected 3 rows, received 4", "take(4)", "take(3)")),
    ("only the task's own names", failing("- types `addBox` badly", "addBox returned nothing", task="`addBox` adds.")),
    (
        "the opposite",
        failing("- Not using `internal` functions", "refused", "internal.a.b", "api.a.b"),
    ),
    ("one common word", failing("- Invalid syntax", "a syntax of its own")),
    ("none", failing("- None for now", "none of it is there for now")),
    ("a consequence", failing("- It reads late, so the `Clock` type is never tried", "`Clock` is not a type")),
]


@pytest.mark.parametrize("evidence", [each for _, each in MATCHES], ids=[name for name, _ in MATCHES])
def test_an_entry_matches_by_its_cause(evidence: Evidence) -> None:
    found = match_gap(evidence)
    assert found is not None
    assert found.terms
    assert 0 < found.score <= 1


@pytest.mark.parametrize("evidence", [each for _, each in DIFFERS], ids=[name for name, _ in DIFFERS])
def test_an_entry_about_something_else_does_not_match(evidence: Evidence) -> None:
    assert match_gap(evidence) is None


@pytest.mark.parametrize(
    ("task", "demanded"), [("Put the helper into `lib.ts`.", True), ("Write a helper.", False), ("", False)]
)
def test_what_the_task_plainly_requires_is_no_gap(task: str, demanded: bool) -> None:
    found = match_gap(failing("- helpers in `utils.ts` instead of `lib.ts`", "", "utils.ts", "lib.ts", task=task))
    assert found is not None
    assert found.demanded is demanded
