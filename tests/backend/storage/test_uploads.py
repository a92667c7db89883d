import base64
import hashlib

import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.storage import UploadTokens
from convex_evals.backend.storage.uploads import (
    Sha256Mismatch,
    normalize_media_type,
    parse_base64_digest,
    parse_digest_header,
)

DIGEST = hashlib.sha256(b"x").digest()
TEXT = base64.b64encode(DIGEST).decode()


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def refusal(tokens: UploadTokens, token: str) -> RequestError:
    with pytest.raises(RequestError) as refused:
        tokens.component_of(token)
    return refused.value


@pytest.mark.parametrize("component", ["", "n57abc"])
def test_a_token_carries_its_component_and_can_be_used_again(component: str) -> None:
    tokens = UploadTokens("secret")
    token = tokens.issue(component)
    assert [tokens.component_of(token), tokens.component_of(token)] == [component, component]


def test_a_token_outlives_a_restart_with_the_same_secret() -> None:
    assert UploadTokens("secret").component_of(UploadTokens("secret").issue("c")) == "c"


def test_a_token_expires_after_an_hour() -> None:
    clock = Clock()
    tokens = UploadTokens("secret", clock)
    token = tokens.issue("")
    clock.now += 3599
    assert tokens.component_of(token) == ""
    clock.now += 1
    error = refusal(tokens, token)
    assert (error.status, error.code) == (401, "StorageTokenExpired")
    assert error.message == "Store File Authorization expired"


def test_anything_else_is_undecodable() -> None:
    tokens = UploadTokens("secret")
    token = tokens.issue("")
    changed = token[:50] + ("A" if token[50] != "A" else "B") + token[51:]
    for text in ["", "garbage", "é", "a" * 200, token[:-4], changed, UploadTokens("other").issue("")]:
        error = refusal(tokens, text)
        assert (error.status, error.code) == (401, "StorageTokenInvalid")
        assert error.message == "Couldn't decode the StoreFileAuthorization token"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"sha-256={TEXT}", DIGEST),
        (f" SHA-256={TEXT} ", DIGEST),
        (TEXT, None),
        ("sha-256=", None),
        (f"sha-512={TEXT}", None),
        (f"sha-256={DIGEST.hex()}", None),
        (f"sha-256={TEXT[:-4]}", None),
        ("sha-256=é", None),
    ],
)
def test_a_digest_header_holds_the_base64_of_a_digest_or_nothing(header: str, expected: bytes | None) -> None:
    assert parse_digest_header(header) == expected


def test_hex_is_not_base64() -> None:
    assert parse_base64_digest(DIGEST.hex()) is None


def test_a_mismatch_shows_both_digests() -> None:
    other = hashlib.sha256(b"y").digest()
    expected = f"Sha256 mismatch. Expected: {base64.b64encode(other).decode()} Actual: {TEXT}"
    assert Sha256Mismatch(other, DIGEST).message == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("image/png", "image/png"),
        ("Image/PNG", "image/png"),
        (" text/plain ", "text/plain"),
        ("Text/Plain; Charset=UTF-8", "text/plain; charset=utf-8"),
        ("text/plain;charset=utf-8", "text/plain;charset=utf-8"),
        ('multipart/form-data; Boundary="A b"', 'multipart/form-data; boundary="A b"'),
        ("image/svg+xml", "image/svg+xml"),
        ("text/plain;", "text/plain"),
        ("text", None),
        ("", None),
        ("text/", None),
        ("te xt/plain", None),
        ("text/plain; charset", None),
        ("text/plain\r\nx: y", None),
        ('text/plain; a="\x01"', None),
        ("text/pläin", None),
    ],
)
def test_media_types_are_normalized_and_others_become_none(text: str, expected: str | None) -> None:
    assert normalize_media_type(text) == expected
