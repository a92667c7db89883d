"""The body of a request while it arrives, and the news that its client is gone."""

import asyncio
from collections.abc import AsyncIterator

from starlette.types import Message, Receive

from convex_evals.backend.errors import RequestError


class IncomingBody:
    """`disconnected` is set when the client goes away, provided that somebody reads `chunks` or runs `watch`."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._complete = asyncio.Event()
        self.disconnected = asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Raises RequestError: 413 for more than `limit` bytes, 408 when the client leaves before the end."""
        size = 0
        while True:
            message = await self._next()
            if self.disconnected.is_set():
                raise RequestError(408, "ClientDisconnected", "The client went away before the end of its request")
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > self._limit:
                raise too_large(self._limit)
            if chunk:
                yield chunk
            if not message.get("more_body", False):
                self._complete.set()
                return

    async def watch(self, *, after_body: bool) -> None:
        """Waits for the client to go away. `after_body` says that somebody else reads the body."""
        if after_body:
            await self._complete.wait()
        while not self.disconnected.is_set():
            await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.disconnected.set()
        return message


def too_large(limit: int) -> RequestError:
    return RequestError(413, "RequestTooLarge", f"The request body is larger than {limit} bytes")
