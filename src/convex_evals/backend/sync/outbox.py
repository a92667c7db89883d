"""What leaves through a socket: messages in order, large ones in pieces, and a ping when there is nothing to say."""

import asyncio
import time
from dataclasses import dataclass

from convex_evals.backend.sync.chunks import LARGEST_WHOLE, cut
from convex_evals.backend.sync.joints import Socket
from convex_evals.backend.sync.server_messages import Ping, ServerMessage, Transition, text


@dataclass(frozen=True, slots=True)
class SessionSettings:
    joins_chunks: bool = False
    largest_whole: int = LARGEST_WHOLE  # bytes of a Transition
    ping_seconds: float = 15.0


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

    def _parts(self, message: ServerMessage) -> list[str]:
        whole = text(message)
        if not isinstance(message, Transition) or not self._settings.joins_chunks:
            return [whole]
        if len(whole.encode()) <= self._settings.largest_whole:
            return [whole]
        return [text(chunk) for chunk in cut(whole, self._settings.largest_whole)]
