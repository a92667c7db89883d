import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.values import (
    COMMIT_TS,
    INT64_MAX,
    UNDEFINED,
    Undefined,
    Value,
    decode_field,
    display,
    equal,
    field_at,
    nesting_of,
    size_of,
    sort_key,
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

# In the order in which `compareValues` of npm convex 1.44.0 puts them; each is smaller than the next.
ORACLE = json.loads((Path(__file__).parent / "order.json").read_text())


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


def test_sort_keys_order_values_like_the_npm_package() -> None:
    keys = [(sort_key(decode_field(item)), item) for item in ORACLE]
    for (smaller, first), (larger, second) in pairwise(keys):
        assert smaller < larger, f"{first} must sort before {second}"


def test_a_negative_nan_sorts_before_every_other_float() -> None:
    assert sort_key(decode_field({"$float": "AAAAAAAA+P8="})) < sort_key(float("-inf"))


@given(data=st.data())
def test_concatenated_keys_order_tuples_of_values(values: st.SearchStrategy[Value], data: st.DataObject) -> None:
    first, second = data.draw(st.tuples(values, values)), data.draw(st.tuples(values, values))
    joined = [sort_key(a) + sort_key(b) for a, b in (first, second)]
    split = [(sort_key(a), sort_key(b)) for a, b in (first, second)]
    assert (joined[0] < joined[1]) == (split[0] < split[1])


@given(data=st.data())
def test_no_key_is_the_beginning_of_another(values: st.SearchStrategy[Value], data: st.DataObject) -> None:
    a, b = data.draw(values), data.draw(values)
    assert equal(a, b) or not sort_key(a).startswith(sort_key(b))


@given(a=st.integers(-(2**63), 2**63 - 1), b=st.integers(-(2**63), 2**63 - 1))
def test_int64_sorts_numerically(a: int, b: int) -> None:
    assert (sort_key(a) < sort_key(b)) == (a < b)


@given(a=st.floats(allow_nan=False), b=st.floats(allow_nan=False))
def test_float64_sorts_numerically(a: float, b: float) -> None:
    if a != b:
        assert (sort_key(a) < sort_key(b)) == (a < b)


@given(a=st.text(st.characters(codec="utf-8")), b=st.text(st.characters(codec="utf-8")))
def test_strings_sort_by_code_point(a: str, b: str) -> None:
    assert (sort_key(a) < sort_key(b)) == (a < b)


def test_equality_is_by_type_and_bits() -> None:
    assert equal(float("nan"), float("nan"))
    assert not equal(1, 1.0)
    assert not equal(True, 1)
    assert not equal(0.0, -0.0)
    assert not equal(None, UNDEFINED)
    assert equal({"a": 1.0, "b": []}, {"b": [], "a": 1.0})


def test_a_pending_commit_timestamp_sorts_as_the_largest_int64() -> None:
    assert sort_key(COMMIT_TS) == sort_key(INT64_MAX)
