import pytest

from convex_evals.core.comparisons import compared


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
        ("something else entirely", None, None),
    ],
)
def test_both_sides_of_a_comparison_are_found(message: str, expected: str | None, received: str | None) -> None:
    assert compared(message) == (expected, received)
