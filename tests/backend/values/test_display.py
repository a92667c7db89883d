import pytest

from convex_evals.backend.values import COMMIT_TS, UNDEFINED, Undefined, Value, display, type_name

CASES: list[tuple[Value | Undefined, str, str]] = [
    (UNDEFINED, "undefined", "undefined"),
    (None, "null", "Null"),
    (5, "5", "Int64"),
    (-5, "-5", "Int64"),
    (COMMIT_TS, "9223372036854775807", "Int64"),
    (5.0, "5.0", "Float64"),
    (0.1, "0.1", "Float64"),
    (-0.0, "-0.0", "Float64"),
    (1e15, "1000000000000000.0", "Float64"),
    (1e16, "1e16", "Float64"),
    (1.5e300, "1.5e300", "Float64"),
    (1e-4, "0.0001", "Float64"),
    (1e-5, "1e-5", "Float64"),
    (float("nan"), "NaN", "Float64"),
    (float("inf"), "inf", "Float64"),
    (float("-inf"), "-inf", "Float64"),
    (True, "true", "Boolean"),
    (False, "false", "Boolean"),
    ("hi", '"hi"', "String"),
    ("it's é 😀", '"it\'s é 😀"', "String"),
    ('"\\\n\t\r\0\x7f', r'"\"\\\n\t\r\0\u{7f}"', "String"),
    (b"\x01\x02", 'b"AQI="', "Bytes"),
    ([1.0, 2.0], "[1.0, 2.0]", "Array"),
    ({"b": "x", "a": 1.0}, '{a: 1.0, b: "x"}', "Object"),
    ({}, "{}", "Object"),
]


@pytest.mark.parametrize(("value", "shown", "_name"), CASES, ids=[shown for _, shown, _ in CASES])
def test_a_value_is_shown_as_in_error_texts(value: Value | Undefined, shown: str, _name: str) -> None:
    assert display(value) == shown


@pytest.mark.parametrize(("value", "_shown", "name"), CASES, ids=[shown for _, shown, _ in CASES])
def test_a_type_has_the_name_error_texts_use(value: Value | Undefined, _shown: str, name: str) -> None:
    assert type_name(value) == name
