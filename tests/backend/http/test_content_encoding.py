import gzip
import zlib

import brotli
import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.content_encoding import decode

BODY = b'{"a": 1}' * 100


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
