"""Logs as they were written before version 0005 of the tables."""

from pathlib import Path

import pytest

import convex_evals
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.core.verdicts import StepName
from convex_evals.scores.migrations.old_logs import OldStep, read_diagnostics

PYTEST = """\
$ pytest grader.py
collected 3 items
=================================== FAILURES ===================================
___________________ test_reads_only_the_messages_it_returns ____________________
/suite/002-queries/003-x/grader.py:54: in test_reads_only_the_messages_it_returns
    assert work.documents_read <= 3, f"read {work.documents_read}"
E   AssertionError: of 300 messages it returned 3, and read 30
E   assert 30 <= 3
________________________________ test_tags[one] ________________________________
/suite/002-queries/003-x/grader.py:30: in test_tags
    assert titles(project, "one") == ["a"]
           ^^^^^^^^^^^^^^^^^^^^^^
/suite/002-queries/003-x/grader.py:16: in titles
    return project.query("index:byTag", tag=tag)
E   kit.errors.CallFailed: index:byTag failed on the project deployment: Uncaught TypeError: e.iter is not a function
E       at handler (../convex/index.ts:11:65)
=========================== short test summary info ============================
FAILED grader.py::test_tags[one]
========================= 2 failed, 1 passed in 0.92s ==========================
"""
VITEST = """\
 FAIL  grader.test.ts > crons > has the labels
AssertionError: expected 'export default {}' to contain 'run every second'
 ❯ grader.test.ts:14:21
     13|   const spec = await apiSpec();
     14|   expect(spec).toContain("run every second");
       |                ^
     15| });
"""
EXCERPT = """\
✗ test_an_update (grader.py:47)
  a profile: not as expected
  expected: {'bio': None}
  received: {'bio': 'Engines'}
  first difference: bio: expected None, received 'Engines'
"""
TYPES = """\
$ tsc --pretty false --project convex
convex/index.ts(11,66): error TS2339: Property 'iter' does not exist on type 'OrderedQuery<{ posts: 1; }>'.
convex/index.ts(53,14): error TS7022: 'total' implicitly has type 'any' because it is referenced in its own initializer.
  The chain of types is long.
error TS18003: No inputs were found in config file.

(exit code 2)
"""
LINT = """\
$ oxlint --format=json convex
{ "diagnostics": [{"message": "Unexpected any.","code": "typescript(no-explicit-any)","labels": [{"span": {}}]}] }
(exit code 1)
convex/helpers.ts:5:8 @typescript-eslint/no-explicit-any: Unexpected `any`. Specify a different type.
convex/helpers.ts:9:24 @typescript-eslint/no-unsafe-call: Unsafe call of a(n) `any` typed value.
convex/helpers.ts:9:24 @typescript-eslint/no-unsafe-call: Unsafe call of a(n) `any` typed value.
src/App.tsx:3:1 no-undef: 'React' is not defined.
"""
BUNDLED = """\
✘ [ERROR] Expected identifier but found ")"

    convex/index.ts:12:27:
      12 │   ctx.db.query("items").).order("desc")
         ╵                         ^

✘ [ERROR] Could not resolve "left-pad" [plugin convex]

    convex/other.ts:1:20:
"""
DEPLOY = """\
direct push: refused
$ node convex/bin/main.js dev --once -x
✖ Error: Unable to start push to http://127.0.0.1:33917
✖ Error fetching POST  http://127.0.0.1:33917/api/start 400 Bad Request: Error: Hit an error while pushing:
Hit an error while evaluating your schema:
Uncaught TypeError: o.map is not a function
    at ../convex/schema.ts:25:15

(exit code 1)
answer: x
"""


def read(name: StepName, log: str, failure: str | None = None, excerpt: str = "") -> tuple[Diagnostic, ...]:
    return read_diagnostics(OldStep(name, failure, excerpt, log))


def test_the_log_of_pytest_gives_every_failed_test_with_its_assertion() -> None:
    first, second = read("tests", PYTEST)
    assert (first.name, first.place) == ("test_reads_only_the_messages_it_returns", "grader.py:54")
    assert (first.expected, first.received) == ("<= 3", "30")
    assert first.assertion == 'assert work.documents_read <= 3, f"read {work.documents_read}"'
    assert (second.name, second.assertion) == ("test_tags[one]", 'assert titles(project, "one") == ["a"]')
    assert second.message.startswith("CallFailed: index:byTag failed")
    assert [each.fingerprint for each in (first, second)] == [
        "test:test_reads_only_the_messages_it_returns",
        "runtime:TypeError: _.iter is not a function",
    ]


def test_the_log_of_vitest_is_understood_too() -> None:
    (found,) = read("tests", VITEST)
    assert (found.name, found.place) == ("crons > has the labels", "grader.test.ts:14")
    assert (found.expected, found.received) == ("'run every second'", "'export default {}'")
    assert found.assertion == 'expect(spec).toContain("run every second");'


def test_without_a_log_the_excerpt_is_used() -> None:
    (found,) = read("tests", "", excerpt=EXCERPT)
    assert (found.name, found.place) == ("test_an_update", "grader.py:47")
    assert (found.expected, found.received) == ("{'bio': None}", "{'bio': 'Engines'}")


def test_every_type_error_is_read_once_with_its_code_place_and_complete_message() -> None:
    first, second, third = read("tsc", TYPES + TYPES)
    assert (first.name, first.place, first.column) == ("TS2339", "convex/index.ts:11", 66)
    assert first.fingerprint == "type:TS2339 Property 'iter' does not exist on type 'OrderedQuery'."
    assert second.message.endswith("The chain of types is long.")
    assert "total" not in second.fingerprint
    assert (third.name, third.file, third.line) == ("TS18003", None, None)


def test_findings_have_rule_and_place_and_count_once() -> None:
    assert [(each.name, each.place) for each in read("eslint", LINT)] == [
        ("@typescript-eslint/no-explicit-any", "convex/helpers.ts:5"),
        ("@typescript-eslint/no-unsafe-call", "convex/helpers.ts:9"),
        ("no-undef", "src/App.tsx:3"),
    ]


def test_only_what_the_cli_says_about_the_project_is_read() -> None:
    (found,) = read("deploy", DEPLOY)
    assert found.place == "convex/schema.ts:25"
    assert found.message.startswith("Uncaught TypeError: o.map is not a function")
    assert found.fingerprint == "deploy:refused Uncaught TypeError: _.map is not a function"


def test_each_complaint_of_the_bundler_is_one() -> None:
    first, second = read("deploy", BUNDLED)
    assert (first.message, first.place) == ('Expected identifier but found ")"', "convex/index.ts:12")
    assert (second.message, second.place) == ('Could not resolve "left-pad"', "convex/other.ts:1")


def test_the_excerpt_at_the_end_of_a_log_is_not_read_as_a_second_complaint() -> None:
    error = "convex/index.ts(1,2): error TS2304: Cannot find name 'x'."
    found = read("tsc", f"$ tsc\n{error}\n(exit code 2)\ntype-errors: {error}\n", "type-errors", error)
    assert [each.file for each in found] == ["convex/index.ts"]


@pytest.mark.parametrize(
    ("step", "failure", "excerpt", "fingerprint"),
    [
        ("install", "package-not-found", "404: left-padd\nmore", "install:package-not-found"),
        ("filesystem", "path-refused", "/etc/passwd: a path must be relative", "filesystem:path-refused"),
        ("tests", "grader-crashed", "the grader ended without a report", "test:the grader ended without a report"),
    ],
)
def test_an_unparseable_step_is_quoted_as_it_is(step: StepName, failure: str, excerpt: str, fingerprint: str) -> None:
    (found,) = read(step, "", failure, excerpt)
    assert (found.step, found.message, found.fingerprint) == (step, excerpt, fingerprint)


def test_a_step_that_said_nothing_complains_about_nothing() -> None:
    assert read("deploy", "", "deploy-refused") == ()


def test_only_the_revision_that_fills_the_tables_reads_old_logs() -> None:
    source = Path(convex_evals.__file__).parent
    users = [path.name for path in source.rglob("*.py") if "old_logs import" in path.read_text()]
    assert users == ["v0005_diagnostics.py"]
