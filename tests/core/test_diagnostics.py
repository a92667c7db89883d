import pytest

from convex_evals.core.diagnostics import (
    LONGEST,
    Diagnostic,
    Place,
    TestResult,
    bundler_error,
    compared,
    failed_test,
    finding,
    normalised,
    refusal,
    stated,
    type_error,
)

MEMBER = "Property 'iter' does not exist on type 'OrderedQuery<{ posts: 1; }>'."
INITIALIZER = "'total' implicitly has type 'any' because it is referenced in its own initializer."


@pytest.mark.parametrize(
    ("found", "fingerprint"),
    [
        (type_error("TS2339", MEMBER), "type:TS2339 Property 'iter' does not exist on type 'OrderedQuery'."),
        (
            type_error("TS7022", INITIALIZER),
            "type:TS7022 '…' implicitly has type '…' because it is referenced in its own initializer.",
        ),
        (finding("oxlint", "no-debugger", "No."), "lint:no-debugger"),
        (bundler_error('Could not resolve "x" in convex/a.ts:1:2'), 'deploy:bundle Could not resolve "x" in FILE'),
        (refusal("IndexFieldsContainCreationTime", "no"), "deploy:IndexFieldsContainCreationTime"),
        (
            refusal("InvalidModules", "Uncaught TypeError: o.map is not a function\n    at a.ts:1:2"),
            "deploy:refused Uncaught TypeError: _.map is not a function",
        ),
        (failed_test("pytest", TestResult("test_tags[one]", "failed", "assert 1 == 2")), "test:test_tags"),
        (
            failed_test("vitest", TestResult("a > b", "failed", "x failed: Uncaught TypeError: e.iter is no function")),
            "runtime:TypeError: _.iter is no function",
        ),
        (stated("install", "package-not-found", "404: left-padd\nmore"), "install:package-not-found"),
        (stated("tests", "grader-hangs", "it took 30 s\nmore"), "test:it took N s"),
    ],
)
def test_a_fingerprint_is_what_the_same_mistake_has_in_common(found: Diagnostic, fingerprint: str) -> None:
    assert found.fingerprint == fingerprint


def test_a_fingerprint_fits_into_an_index() -> None:
    long = "x" * 10_000
    made = (
        finding("", long, ""),
        failed_test("", TestResult(long, "failed")),
        refusal(long, long),
        bundler_error(long),
    )
    assert all(len(each.fingerprint) < 250 for each in made)


def test_a_place_is_as_exact_as_it_is_known() -> None:
    assert [str(place) for place in (Place("a.ts", 3, 1), Place("a.ts"), Place())] == ["a.ts:3", "a.ts", ""]
    assert type_error("TS1", "no", Place("a.ts", 3, 1)).place == "a.ts:3"


@pytest.mark.parametrize(
    ("message", "expected", "received"),
    [
        ("x\n  expected: [3, 2]\n  received: [9, 2]", "[3, 2]", "[9, 2]"),
        ("index:get args: expected v.string(), received v.number()", "v.string()", "v.number()"),
        ("expected { a: 1 } to deeply equal { a: 2 }", "{ a: 2 }", "{ a: 1 }"),
        ("expected a call to fail with 'Too heavy', but all calls succeeded", "an error 'Too heavy'", "success"),
        ("CallFailed: index:get failed on the project deployment: Uncaught Error: no", "success", "Uncaught Error: no"),
        ("of 300 it read 30\nassert 30 <= 3", "<= 3", "30"),
        ("assert 'a' == 'b'", "'b'", "'a'"),
        ("expected error.data to equal 'full', received 'empty'", "'full'", "'empty'"),
        ("schema: expected index a, got index b", "index a", "index b"),
        ("expected Error: has to be 1 to equal an error with 'One'", "an error with 'One'", "Error: has to be 1"),
        ("expected nothing to equal index by_day on day", "index by_day on day", "nothing"),
        ("something else entirely", None, None),
        (
            "AssertionError: expected [Function] to throw error including 'no seats' but got 'Server Error'",
            "an error including 'no seats'",
            "Server Error",
        ),
        ("expected [ 1, 2, 3 ] to have a length of 2 but got 3", "a length of 2", "a length of 3"),
    ],
)
def test_both_sides_of_a_comparison_are_found(message: str, expected: str | None, received: str | None) -> None:
    assert compared(message) == (expected, received)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "storage id kg22v186v05v721wvvr9f71h658jb2zr not found",
            "storage id kg2aaaa6v05v721wvvr9f71h658jb2zz not found",
        ),
        ("[Request ID: 1a857dee35c6a655] Server Error", "[Request ID: 08c421af82305a10] Server Error"),
        ("cannot load ../convex/index.ts:12:3", "cannot load convex/users/all.ts:99:1"),
        ("Unable to reach http://127.0.0.1:33917/api", "Unable to reach http://127.0.0.1:44141/api"),
        ("o.map is not a function\n    at x (a.ts:1:1)", "e.map is not a function"),
        ("read 30 documents", "read 7 documents"),
    ],
)
def test_places_ids_addresses_and_numbers_do_not_matter(first: str, second: str) -> None:
    assert normalised(first) == normalised(second)


def test_different_mistakes_stay_different() -> None:
    assert normalised("v.map is not a function") != normalised("v.tuple is not a function")


def test_it_is_one_line_of_bounded_length() -> None:
    assert len(normalised("word \n" * 1000)) == LONGEST
