"""Messages between a run and its grading workers: four bytes of length, then JSON.

run    -> worker   Assignment
worker -> run      StepDone, any number of times, then Graded or Trouble
"""

import asyncio
import json
import struct
from dataclasses import dataclass
from typing import Final

from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.types import Assignment, Grade

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one message. An answer that is longer is refused by the worker, and nothing that a worker says comes close."""

_LENGTH: Final = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class StepDone:
    step: StepResult


@dataclass(frozen=True, slots=True)
class Graded:
    grade: Grade


@dataclass(frozen=True, slots=True)
class Trouble:
    """The worker lives, but could not grade."""

    sentence: str


Message = Assignment | StepDone | Graded | Trouble
_KINDS: Final[dict[str, type[Message]]] = {kind.__name__: kind for kind in (Assignment, StepDone, Graded, Trouble)}


async def send(writer: asyncio.StreamWriter, message: Message) -> None:
    body = json.dumps({"kind": type(message).__name__, "value": to_plain(message)}).encode()
    writer.write(_LENGTH.pack(len(body)) + body)
    await writer.drain()


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next message, or None when the other side is gone. Raises ValueError, KeyError or TypeError for nonsense."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > MOST_BYTES:
            raise ValueError(f"a message has at most {MOST_BYTES} bytes, and this one has {length}")
        body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None
    envelope = json.loads(body)
    return from_plain(_KINDS[envelope["kind"]], envelope["value"])
