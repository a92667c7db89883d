"""uvicorn's HTTP protocol with limits: uvicorn bounds neither the head of a request nor the time it takes.

The limits hold for one request or connection at any server of ours.
"""

import asyncio
import logging
from typing import Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from convex_evals.core.files import MEBIBYTE

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


logger = logging.getLogger(__name__)
logger.setLevel(logging.ERROR)  # invalid requests are not worth a warning


class HeadTooLarge(Exception):
    """Ends the parser's work."""


class BoundedProtocol(HttpToolsProtocol):
    def __init__(self, config: Config, server_state: ServerState) -> None:
        super().__init__(config, server_state, {})
        self.logger = logger
        self._refusal = BAD_REQUEST
        self._is_in_head = True
        self._is_arriving = False
        self._head_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_within(IDLE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._expect_nothing()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
                self._refuse(HEAD_TOO_LARGE)

    # Events of the parser

    def on_message_begin(self) -> None:
        self._is_in_head = self._is_arriving = True
        self._head_bytes = 0
        self._expect_within(REQUEST_SECONDS)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MOST_HEADERS:
            self._refusal = HEAD_TOO_LARGE
            raise HeadTooLarge
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES:
            self._refusal = HEAD_TOO_LARGE
            raise HeadTooLarge
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_arriving = False
        self._head_bytes = 0
        self._expect_nothing()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_arriving:
            self._expect_within(REST_SECONDS)

    # Deadlines and refusals

    def _expect_within(self, seconds: float) -> None:
        self._expect_nothing()
        self._deadline = self.loop.call_later(seconds, self._give_up)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.flow.read_paused:  # the delay is ours
            self._expect_within(REQUEST_SECONDS)
        elif self._is_arriving and self._is_in_head:
            self._refuse(TIMED_OUT)
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """uvicorn calls this when the parser rejects a request."""
        self._refuse(self._refusal)

    def _refuse(self, refusal: tuple[int, str]) -> None:
        status, sentence = refusal
        self._expect_nothing()
        head = (
            f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(sentence)}\r\nconnection: close\r\n\r\n"
        )
        if self.cycle is None or self.cycle.response_complete:  # otherwise it would read as part of that response
            self.transport.write(STATUS_LINE[status] + head.encode() + sentence.encode())
        self.transport.close()
