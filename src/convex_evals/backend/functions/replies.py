"""Answers to syscalls."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.functions.outcomes import Finished
from convex_evals.backend.runtime.types import LogLine, SyscallReply

NULL = "null"


async def reply_to(answer: Awaitable[str | SyscallReply]) -> SyscallReply:
    """What user code gets: the result, or the developer error that it may catch."""
    try:
        result = await answer
    except DeveloperError as error:
        return refused(error)
    return SyscallReply(result) if isinstance(result, str) else result


def refused(error: DeveloperError) -> SyscallReply:
    data = error.data if isinstance(error, ConvexError) else None
    return SyscallReply(error=error.message, error_data=data)


def reply_of(finished: Finished, path: FunctionPath) -> SyscallReply:
    """How a call ends for the function that made it: a failure keeps its text and frames, and its data."""
    lines = tagged(finished.log_lines, path)
    if finished.failure is None:
        return SyscallReply(finished.returned.text if finished.returned else NULL, log_lines=lines)
    failure = finished.failure
    return SyscallReply(error=failure.message, error_data=failure.data, log_lines=lines, fatal=not finished.catchable)


def tagged(lines: Sequence[LogLine], path: FunctionPath) -> Sequence[LogLine]:
    """Lines that come out of a component say where they come from."""
    if not path.component:
        return lines
    return [
        line
        if line.component_path is not None
        else replace(line, component_path=path.component, udf_path=path.stripped)
        for line in lines
    ]
