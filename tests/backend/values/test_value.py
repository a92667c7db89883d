import pytest

from convex_evals.backend.values import (
    COMMIT_TS,
    UNDEFINED,
    Undefined,
    Value,
    display,
    field_at,
    nesting_of,
    size_of,
    split_path,
    type_name,
)

DOCUMENT: Value = {"a": {"b": {"c": 1.0}, "n": None}, "list": [{"b": 1.0}], "s": "text"}


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


SIZES: list[tuple[Value, int]] = [
    (None, 1),
    (True, 1),
    (5, 9),
    (COMMIT_TS, 9),
    (5.0, 9),
    ("abc", 5),
    ("é😀", 8),
    (b"abc", 5),
    ([], 2),
    ([None, 1.0], 12),
    ({}, 2),
    ({"ab": "x"}, 2 + 2 + 1 + 3),
    ({"_id": "x" * 32, "_creationTime": 1.0}, 2 + 38 + 23),
]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b.c", 1.0),
        ("a.n", None),
        ("s", "text"),
        ("a.x", UNDEFINED),
        ("a.n.x", UNDEFINED),
        ("list.b", UNDEFINED),
        ("s.length", UNDEFINED),
    ],
)
def test_paths_descend_objects_only(path: str, found: Value | Undefined) -> None:
    assert field_at(DOCUMENT, split_path(path)) == found


@pytest.mark.parametrize(("value", "shown", "_name"), CASES, ids=[shown for _, shown, _ in CASES])
def test_a_value_is_shown_as_in_error_texts(value: Value | Undefined, shown: str, _name: str) -> None:
    assert display(value) == shown


@pytest.mark.parametrize(("value", "_shown", "name"), CASES, ids=[shown for _, shown, _ in CASES])
def test_a_type_has_the_name_error_texts_use(value: Value | Undefined, _shown: str, name: str) -> None:
    assert type_name(value) == name


@pytest.mark.parametrize(("value", "size"), SIZES, ids=repr)
def test_a_value_has_the_size_that_limits_count(value: Value, size: int) -> None:
    assert size_of(value) == size


@pytest.mark.parametrize(
    ("value", "nesting"),
    [(1.0, 0), ([], 1), ({}, 1), ([1.0], 1), ({"a": [[]], "b": {}}, 3)],
    ids=repr,
)
def test_nesting_counts_containers_on_the_deepest_path(value: Value, nesting: int) -> None:
    assert nesting_of(value) == nesting
