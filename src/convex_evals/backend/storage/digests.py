"""SHA-256 digests as callers write them, and what happens when the bytes are others."""

import base64
import binascii
import re

from convex_evals.backend.errors import DeveloperError

DIGEST_SIZE = 32
_DIGEST_HEADER = re.compile(r"sha-256=(.+)", re.IGNORECASE)


class Sha256Mismatch(DeveloperError):
    def __init__(self, expected: bytes, actual: bytes) -> None:
        super().__init__(f"Sha256 mismatch. Expected: {to_base64(expected)} Actual: {to_base64(actual)}")


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def parse_base64_digest(text: str) -> bytes | None:
    """None unless the text is the base64 of a digest."""
    try:
        digest = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return digest if len(digest) == DIGEST_SIZE else None


def parse_digest_header(text: str) -> bytes | None:
    """`sha-256=<base64>`; None for anything else."""
    found = _DIGEST_HEADER.fullmatch(text.strip())
    return None if found is None else parse_base64_digest(found[1])
