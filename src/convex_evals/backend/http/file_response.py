"""A response whose body is read from a file while it is sent."""

import asyncio
from collections.abc import Mapping
from typing import BinaryIO, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from convex_evals.backend.http.ranges import ByteRange

CHUNK_BYTES: Final = 256 * 1024


class OpenFileResponse(Response):
    """Sends one part of an open file, and closes it. Without a part the body is empty."""

    def __init__(self, content: BinaryIO, part: ByteRange | None, status: int, headers: Mapping[str, str]) -> None:
        size = 0 if part is None else part.size
        super().__init__(None, status, {**headers, "content-length": str(size)})
        self._content = content
        self._part = part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._content as content:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if self._part is not None and scope["method"] != "HEAD":
                await _send_part(content, self._part, send)
            await send({"type": "http.response.body", "body": b""})


async def _send_part(content: BinaryIO, part: ByteRange, send: Send) -> None:
    content.seek(part.first)
    left = part.size
    while left > 0:
        chunk = await asyncio.to_thread(content.read, min(left, CHUNK_BYTES))
        if not chunk:
            raise OSError(f"the file ends {left} bytes too early")
        left -= len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
