"""Pagination cursors: a position in the results of one query, opaque and bound to the deployment."""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import NamedTuple

from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.values import dumps

_FINGERPRINT_SIZE = 8
_SEAL_SIZE = 8
_AFTER = b"a"
_END = b"e"


class Cursor(NamedTuple):
    """`key` None is the end of the results."""

    key: bytes | None


class CursorFormat:
    """Writes and reads the cursors of one query. Equal positions give equal texts."""

    def __init__(self, secret: bytes, fingerprint: bytes) -> None:
        self._secret = secret
        self._fingerprint = fingerprint

    def write(self, cursor: Cursor) -> str:
        body = self._fingerprint + (_END if cursor.key is None else _AFTER + cursor.key)
        return urlsafe_b64encode(self._seal(body) + body).decode().rstrip("=")

    def read(self, text: str) -> Cursor:
        body = self._open(text)
        if body[:_FINGERPRINT_SIZE] != self._fingerprint:
            raise ConvexError(
                "InvalidCursor: Tried to run a query starting from a cursor, "
                "but it looks like this cursor is from a different query.",
                dumps({"isConvexSystemError": True, "paginationError": "InvalidCursor"}),
            )
        position = body[_FINGERPRINT_SIZE:]
        return Cursor(None if position == _END else position[1:])

    def _open(self, text: str) -> bytes:
        try:
            data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (Base64Error, ValueError):
            raise _unreadable() from None
        seal, body = data[:_SEAL_SIZE], data[_SEAL_SIZE:]
        if len(body) <= _FINGERPRINT_SIZE or seal != self._seal(body):
            raise _unreadable()
        return body

    def _seal(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, key=self._secret, digest_size=_SEAL_SIZE).digest()


def _unreadable() -> DeveloperError:
    return DeveloperError("Failed to parse cursor")
