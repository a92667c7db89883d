from collections.abc import Callable

import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.bodies import Fields, is_json


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("Application/JSON", True),
        ("application/vnd.api+json", True),
        ("text/json", False),
        ("text/plain", False),
        ("", False),
    ],
)
def test_json_is_recognized_by_its_type(content_type: str, expected: bool) -> None:
    assert is_json(content_type) == expected


FIELDS = Fields({"text": "a", "number": 1, "flag": True, "none": None, "list": [{"text": "b"}], "texts": ["c"]}, "Bad")


def test_fields_are_read_by_name_and_type() -> None:
    assert FIELDS.text("text") == "a"
    assert FIELDS.optional_text("none") is None
    assert FIELDS.optional_text("missing") is None
    assert FIELDS.optional_number("number") == 1.0
    assert FIELDS.anything("none") is None
    assert [item.text("text") for item in FIELDS.items("list")] == ["b"]
    assert FIELDS.texts("texts") == ["c"]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: FIELDS.text("missing"), "missing field `missing`"),
        (lambda: FIELDS.anything("missing"), "missing field `missing`"),
        (lambda: FIELDS.text("number"), "number: invalid type, expected a string"),
        (lambda: FIELDS.optional_text("flag"), "flag: invalid type, expected a string"),
        (lambda: FIELDS.optional_number("flag"), "flag: invalid type, expected a number"),
        (lambda: FIELDS.items("text"), "text: invalid type, expected a sequence"),
        (lambda: FIELDS.items("texts"), "texts: invalid type, expected a map"),
    ],
)
def test_wrong_fields_are_named(read: Callable[[], object], message: str) -> None:
    with pytest.raises(RequestError) as refused:
        read()
    assert (refused.value.status, refused.value.code, refused.value.message) == (400, "Bad", message)
