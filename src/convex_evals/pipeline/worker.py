"""A grading worker: a process that takes an eval and files, grades them, and says what came out, again and again.

Started as `python -m convex_evals.pipeline.worker SANDBOX` with one socket as standard input and output. It has no
keys, keeps nothing that matters, and ends when the socket does.
"""

import asyncio
import os
import socket
import sys
import traceback
from pathlib import Path
from typing import get_args

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.core.processes import Sandbox, use_sandbox
from convex_evals.core.settings import read_settings
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.messages import Graded, StepDone, Trouble, receive, send
from convex_evals.pipeline.tools import Tools, open_tools
from convex_evals.pipeline.types import Assignment, Grade

NOWHERE = Path("/")
"""Where no `.env` with keys is looked for."""


def main() -> None:
    use_sandbox(next(each for each in get_args(Sandbox) if each == sys.argv[1]))
    asyncio.run(serve(take_channel()))


def take_channel() -> socket.socket:
    """Moves the socket away from standard input and output, so that nothing can print into the conversation."""
    channel = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


async def serve(channel: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=channel)
    async with open_tools(read_settings(cwd=NOWHERE)) as tools:
        while isinstance(assignment := await receive(reader), Assignment):
            await send(writer, await _answer(assignment, tools, writer))
    writer.close()


async def _answer(assignment: Assignment, tools: Tools, writer: asyncio.StreamWriter) -> Graded | Trouble:
    try:
        return Graded(await _grade(assignment, tools, writer))
    except ConvexEvalsError as error:
        return Trouble(str(error))
    except Exception as error:
        # The run finds out with another worker whether this answer is to blame.
        traceback.print_exc()
        return Trouble(f"Grading broke down ({type(error).__name__}: {error}).")


async def _grade(assignment: Assignment, tools: Tools, writer: asyncio.StreamWriter) -> Grade:
    async def tell(step: StepResult) -> None:
        await send(writer, StepDone(step))

    return await grade(assignment, tools, tell)


if __name__ == "__main__":
    main()
