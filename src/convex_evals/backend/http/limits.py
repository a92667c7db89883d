"""Limits of one request or client of a deployment, and the answer when they are exceeded; the rest is in `core/http`.

Functions and pages are clients like any other.
"""

from typing import Final

from convex_evals.backend.errors import RequestError
from convex_evals.core.http import MEBIBYTE

# Bodies.
FUNCTION_BODY_BYTES: Final = 16 * MEBIBYTE + 2000
HTTP_ACTION_BODY_BYTES: Final = 20 * MEBIBYTE
PUSH_BYTES: Final = 200 * MEBIBYTE  # after decoding, and only from administrators
UPLOAD_BYTES: Final = 1024 * MEBIBYTE

# Connections of functions to their own deployment; further ones are closed, so that graders always find a descriptor.
PUBLIC_CONNECTIONS: Final = 256

LONGEST_POLL_SECONDS: Final = 60.0


def body_too_large(limit: int, code: str = "RequestTooLarge") -> RequestError:
    return RequestError(413, code, f"The request body is larger than {limit} bytes")
