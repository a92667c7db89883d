import pytest

from convex_evals.analysis.evidence import Cause, Evidence
from convex_evals.analysis.gaps import match_gap
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import StepName


def failing(
    gaps: str,
    message: str = "",
    model: str = "",
    expected: str = "",
    task: str = "Routes.",
    step: StepName = "tests",
    rule: str | None = None,
    assertion: str | None = None,
) -> Evidence:
    diagnostics = (Diagnostic(step, message, name=rule, assertion=assertion),) if message else ()
    cause = Cause("isolated", model, expected)
    steps = (StepResult(step, "failed"),)
    known = {"error": message, "diagnostics": diagnostics, "cause": cause, "gaps": gaps, "task": task, "steps": steps}
    return Evidence(failed_step=step, **known)  # type: ignore[arg-type]


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
    ("the same effect", failing("- bad at type declarations", "'a' implicitly has an 'any' type.", step="tsc")),
    ("another rule of its family", failing("- `no-unsafe-*` again", "no", step="eslint", rule="x/no-unsafe-return")),
    (
        "a name written as words",
        failing("- Uses a number for `dueInDays`", "Uncaught Error: due in days must be a text", "1", '"1"'),
    ),
    ("a file, whatever is around it", failing("- imports from ./lib/server", 'no export in "app/lib/server.js"')),
    ("what its code does", failing("- doesn't spread what is existing", "", "{ a: { b } }", "{ a: { ...old.a, b } }")),
    ("one name that only the answer has", failing("- It's trying to use filter.", "", "rows.filter(f)", "rows.at(f)")),
    ("synonyms", failing("- It makes a cursor manually.", "", "Builds the cursor by hand.", "A page.")),
    (
        "one that is told by its kind",
        failing("- Express-like wildcard routes", "404", 'path: "/a/*"', 'pathPrefix: "/a"'),
    ),
    (
        "one that the compiler words otherwise",
        failing("- runs into circular inference", "'a' is referenced in its own initializer.", step="tsc"),
    ),
    (
        "a cause with an opinion after it",
        failing("- forgets `by_day`. We see it often, sadly", "no by_day", "a", "by_day"),
    ),
    (
        "what it passes",
        failing("- Passes cursorOpts to the hook", "'cursorOpts' does not exist", "useIt(cursorOpts)", "useIt()"),
    ),
    (
        "what should be",
        failing("- a list of routes, it should be a prefix", "404", 'path: "/a/:b"', 'pathPrefix: "/a"'),
    ),
    ("a symbol that it quotes", failing("- `!` after `row` for nothing", "row! is possibly", "row!.a", "row.a")),
    (
        "a type that nobody declared",
        failing("- bad at type declarations", "Cannot find name 'RowCtx'.", step="tsc"),
    ),
    ("what is missing", failing('- doesn\'t know "use strict"', "", 'No `"use strict"`.', '`"use strict"`')),
]
DIFFERS = [
    (
        "what both sides have",
        failing("- `addJob` from a query", "Expected 2 arguments", "addJob(run);\nrun();", "addJob(run, 1);\nrun();"),
    ),
    ("the other tree", failing("- `api.jobs.run` used", "", "later(internal.jobs.run)", "soon(internal.jobs.run)")),
    (
        "the file in which it is",
        failing("- row: any in lib/rows.ts", "lib/rows.ts no-floating-promises", "a()", "await a()"),
    ),
    ("words, where the entry names other code", failing("- wants fs.read in the form", "no form", "<form>", "form()")),
    ("what does no harm", failing("- Uses `unique()`, which is fine", "unique() failed", "q.unique()", "q.first()")),
    (
        "what both have, in several lines",
        failing(
            "- reads `score` with `get`", "3, not 4", "a.get(score);\nb.get(4);\nc();", "a.get(score);\nb.get(3);\nc();"
        ),
    ),
    ("another cause", failing("- Forgets the search index", "expected 3 rows, received 4", "take(4)", "take(3)")),
    ("only the task's own names", failing("- types `addBox` badly", "addBox returned nothing", task="`addBox` adds.")),
    (
        "the opposite",
        failing("- Not using `internal` functions", "refused", "internal.a.b", "api.a.b"),
    ),
    (
        "this instead of that, the other way round",
        failing("- sorts rows in code instead of using `orderBy`", "2, not 1", "rows.orderBy(a)", "for (;;) next()"),
    ),
    (
        "this instead of that, where the answer has that",
        failing("- throws strings instead of `AppError`", "no 'b'", 'throw AppError("a")', 'throw AppError("b")'),
    ),
    ("a call that every answer makes", failing("- `get` in a loop, not all at once", "no 'b'", "db.get(a).b", "b")),
    (
        "the same part of Convex in another kind of function",
        failing("- schedules from an action", "no 'scheduler' on type 'QueryCtx'", "query({ f: ctx.scheduler })", "a"),
    ),
    (
        "an entry that says nothing about lint, where the linter complained",
        failing("- Not using `internal` functions", "'internal' is never used", step="eslint", rule="no-unused-vars"),
    ),
    ("another lint rule", failing("- `prefer-const` on `total`", "`total` is off", step="eslint", rule="no-var")),
    ("the grader's own code", failing("- calls http.post", "assert 1 == 2", assertion="client.http.post(1) == 2")),
    (
        "types that are written out in full",
        failing("- `splitAt` is null", "Type '{ " + "a: string; " * 9 + "splitAt: null }' is not a number", step="tsc"),
    ),
    ("a mistake in types", failing("- bad at type declarations", "TS2339: no property 'at' on type 'B'", step="tsc")),
    ("only the reference has it", failing("- Reads `_files` with db.get", "1", "", 'db.get("_files")')),
    (
        "another symbol",
        failing("- `*/7` is no interval of a schedule", "the interval of the schedule is off", "a", "b"),
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
def test_what_the_task_plainly_requires_is_not_a_gap(task: str, demanded: bool) -> None:
    found = match_gap(failing("- helpers in `utils.ts` instead of `lib.ts`", "", "utils.ts", "lib.ts", task=task))
    assert found is not None
    assert found.demanded is demanded


MISSING = "Cannot find module 'left-pad' or its corresponding type declarations."


@pytest.mark.parametrize(
    ("gaps", "message", "model", "matches"),
    [
        ("- forgets to list left-pad in package.json", MISSING, "import pad from 'left-pad';", True),
        ("- gives `pad` a callback", MISSING, "import pad from 'left-pad';", False),
        ("- Imports a `RightPad` from nowhere", MISSING, "import pad from 'left-pad';", False),
        ("- writes `take` where `paginate` is needed", "expected 1 to be 2", "rows.paginate(opts)", False),
        ("- `paginate` is unknown to it", "expected 1 to be 2", "rows.paginate(opts)", False),
    ],
)
def test_the_same_words_are_not_the_same_cause(gaps: str, message: str, model: str, matches: bool) -> None:
    assert bool(match_gap(failing(gaps, message, model))) == matches


@pytest.mark.parametrize(
    ("gaps", "matches"),
    [
        ("- comes out as 0.29999… now and then", True),
        ("- gives 0.3 in text", False),
        ("- 7 rows are too many", False),
    ],
)
def test_an_entry_that_quotes_what_came_is_about_it(gaps: str, matches: bool) -> None:
    test = Diagnostic("tests", "wrong", expected="0.3", received="0.29999999")
    evidence = Evidence(failed_step="tests", error="wrong", diagnostics=(test,), gaps=gaps, task="Sums.")
    assert bool(match_gap(evidence)) == matches
