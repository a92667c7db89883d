"""The socket of a client, and what leaves through it: messages in order, large ones in chunks, pings, the end."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from convex_evals.backend.sync.errors import INTERNAL, Disconnected, ServerStopping, ending_of
from convex_evals.backend.sync.server_messages import Ping, ServerMessage, Transition, TransitionChunk, text

LARGEST_WHOLE = 5_000_000
CLOSING_SECONDS = 5.0
STOPPING_SECONDS = 0.5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    joins_chunks: bool = False
    largest_whole: int = LARGEST_WHOLE  # bytes of a Transition
    ping_seconds: float = 15.0
    now_ns: Callable[[], int] = time.time_ns  # the time that clients are told


class Socket(Protocol):
    """One WebSocket, already accepted. Every method raises Disconnected when the client is gone."""

    @property
    def ip(self) -> str | None:
        """Where the client connects from."""
        ...

    @property
    def user_agent(self) -> str | None:
        """What the client called itself when it connected."""
        ...

    async def receive(self) -> str:
        """The next text frame; BrokenInvariant for a binary one."""
        ...

    async def send(self, text: str) -> None: ...

    async def close(self, code: int | None, reason: str) -> None: ...


class Outbox:
    def __init__(self, socket: Socket, settings: SessionSettings) -> None:
        self._socket = socket
        self._settings = settings
        self._turn = asyncio.Lock()
        self._sent_at = time.monotonic()

    async def send(self, message: ServerMessage) -> None:
        """Waits for a slow client. Nothing comes between the pieces of one message."""
        parts = self._parts(message)
        async with self._turn:
            for part in parts:
                await self._socket.send(part)
            self._sent_at = time.monotonic()

    async def ping_forever(self) -> None:
        while True:
            silent = time.monotonic() - self._sent_at
            if silent >= self._settings.ping_seconds:
                await self.send(Ping())
            else:
                await asyncio.sleep(self._settings.ping_seconds - silent)

    async def close(self, error: BaseException, identity_version: int) -> None:
        """Tells the client how its session ended. `identity_version` is that of the last Transition."""
        ending = ending_of(error, identity_version)
        if ending is None:
            return
        if ending is INTERNAL:
            logger.error("a sync session failed", exc_info=error)
        seconds = STOPPING_SECONDS if isinstance(error, ServerStopping) else CLOSING_SECONDS
        try:
            async with asyncio.timeout(seconds):
                if ending.message is not None:
                    await self.send(ending.message)
                await self._socket.close(ending.code, ending.reason)
        except (Disconnected, TimeoutError):
            logger.debug("the client left before it could be told %s", ending)

    def _parts(self, message: ServerMessage) -> list[str]:
        whole = text(message)
        if not isinstance(message, Transition) or not self._settings.joins_chunks:
            return [whole]
        if len(whole.encode()) <= self._settings.largest_whole:
            return [whole]
        return [text(chunk) for chunk in cut(whole, self._settings.largest_whole)]


def cut(transition: str, size: int = LARGEST_WHOLE) -> list[TransitionChunk]:
    """`transition` in pieces of at most `size` bytes, never splitting a character."""
    raw = transition.encode()
    pieces = list(_pieces(raw, size))
    return [TransitionChunk(piece, number, len(pieces), str(len(raw))) for number, piece in enumerate(pieces)]


def _pieces(raw: bytes, size: int) -> Iterator[str]:
    start = 0
    while start < len(raw):
        end = min(start + size, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # inside a UTF-8 character
            end -= 1
        yield raw[start:end].decode()
        start = end
