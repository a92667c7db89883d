"""The other end of `kit/service.py`: runs a program when a grader asks for it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from convex_evals.core.plain import to_plain
from convex_evals.pipeline.grading.runner import GraderRequest

Answer = Callable[[Any], Awaitable[object]]
"""From what was asked to a value of a type of ours."""


@asynccontextmanager
async def serve(fixture: str, request: GraderRequest, answer: Answer) -> AsyncIterator[Path | None]:
    """The socket, while the block runs; None if the grader does not speak of this fixture. One answer at a time."""
    if re.search(rf"\b{fixture}\b", request.grader.path.read_text(errors="replace")) is None:
        yield None
        return
    turn = asyncio.Lock()

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            asked = json.loads(await reader.read())
            async with turn:
                answered = await answer(asked)
            writer.write(json.dumps(to_plain(answered)).encode())
            await writer.drain()
        writer.close()

    socket = request.private / f"{fixture}.socket"
    async with await asyncio.start_unix_server(reply, socket):
        yield socket
