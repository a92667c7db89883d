import json
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.values import COMMIT_TS, INT64_MAX, UNDEFINED, Value, decode_field, equal, sort_key

# In the order in which `compareValues` of npm convex 1.44.0 puts them; each is smaller than the next.
ORACLE = json.loads((Path(__file__).parent / "order.json").read_text())


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
