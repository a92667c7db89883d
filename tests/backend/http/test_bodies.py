import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.bodies import Fields, decode, is_json

FIELDS = Fields({"text": "a", "number": 1, "flag": True, "none": None, "list": [{"text": "b"}], "texts": ["c"]}, "Bad")
BODY = b'{"a": 1}' * 100


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


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("identity", BODY),
        ("", BODY),
        ("br", brotli.compress(BODY)),
        ("BR ", brotli.compress(BODY)),
        ("gzip", gzip.compress(BODY, mtime=0)),
        ("deflate", zlib.compress(BODY)),
    ],
)
def test_bodies_are_decoded_by_their_content_encoding(encoding: str, body: bytes) -> None:
    assert decode(body, encoding) == BODY


@pytest.mark.parametrize("encoding", ["br", "gzip"])
@pytest.mark.parametrize("damage", ["cut", "garbage"])
def test_a_damaged_body_is_refused(encoding: str, damage: str) -> None:
    whole = brotli.compress(BODY) if encoding == "br" else gzip.compress(BODY)
    with pytest.raises(RequestError) as refusal:
        decode(whole[: len(whole) // 2] if damage == "cut" else b"not compressed at all", encoding)
    assert (refusal.value.status, refusal.value.code) == (400, "BadJsonBody")


@pytest.mark.parametrize("compress", [("br", brotli.compress), ("gzip", gzip.compress)])
def test_a_small_body_cannot_become_a_huge_one(compress: tuple[str, object]) -> None:
    encoding, encode = compress
    with pytest.raises(RequestError) as refusal:
        decode(encode(bytes(1_000_000)), encoding, limit=10_000)  # type: ignore[operator]
    assert refusal.value.status == 413


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(RequestError) as refusal:
        decode(BODY, "zstd")
    assert refusal.value.status == 415
