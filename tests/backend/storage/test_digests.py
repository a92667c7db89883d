import base64
import hashlib

import pytest

from convex_evals.backend.storage.digests import Sha256Mismatch, parse_base64_digest, parse_digest_header

DIGEST = hashlib.sha256(b"x").digest()
TEXT = base64.b64encode(DIGEST).decode()


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
