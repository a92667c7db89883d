import pytest

from convex_evals.backend.values import UNDEFINED, Undefined, Value, field_at, split_path

DOCUMENT: Value = {"a": {"b": {"c": 1.0}, "n": None}, "list": [{"b": 1.0}], "s": "text"}


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
