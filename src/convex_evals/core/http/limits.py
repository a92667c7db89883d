"""Limits of one request or connection at any server of ours, and the answers when they are exceeded."""

from typing import Final

MEBIBYTE: Final = 1024 * 1024

# The head of a request: Convex, too, answers 431 to the 101st header.
MOST_HEADERS: Final = 100
HEAD_BYTES: Final = 64 * 1024

# How long a request may take to arrive, and the rest of one that is already answered.
REQUEST_SECONDS: Final = 300.0
REST_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 60.0
GRACE_SECONDS: Final = 0.5  # for requests under way when a server stops

# Sockets.
MESSAGE_BYTES: Final = 64 * MEBIBYTE
PING_SECONDS: Final = 5.0  # WebSocket clients of the Rust family leave after 30 seconds without a frame
SILENCE_SECONDS: Final = 120.0

# Answers from below HTTP's routes: status and text.
BAD_REQUEST: Final = (400, "Expected an HTTP request, but found something else.")
TIMED_OUT: Final = (408, "Expected a whole request, but it did not arrive in time.")
HEAD_TOO_LARGE: Final = (
    431,
    f"Expected at most {MOST_HEADERS} headers and {HEAD_BYTES} bytes, but the request has more.",
)
