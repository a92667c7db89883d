"""How executions end, before anybody is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.functions.arguments import Returned
from convex_evals.backend.functions.types import CallFailure
from convex_evals.backend.runtime.types import Failure, LogLine

LONGEST_MESSAGE = 65_536

# What a function is told that took the whole worker down with it, twice.
OUT_OF_MEMORY = DeveloperError("JavaScript execution ran out of memory (maximum memory usage: 64 MB)")
TIMED_OUT = DeveloperError("Function execution timed out (maximum duration: 1s)")


@dataclass(slots=True)
class Finished:
    """Exactly one of `returned` and `failure` is set."""

    returned: Returned | None
    failure: CallFailure | None
    log_lines: list[LogLine] = field(default_factory=list)
    user_ms: float = 0.0
    catchable: bool = True  # False: not even the calling function may catch it

    @classmethod
    def failed(cls, error: DeveloperError, log_lines: Sequence[LogLine] = (), user_ms: float = 0.0) -> "Finished":
        return cls(None, failure_of(error), list(log_lines), user_ms)


def failure_of(error: DeveloperError) -> CallFailure:
    """The failure of a call that was refused before, or condemned after, its code ran: no `Uncaught`, no frames."""
    return CallFailure(_cut(f"{error.message}\n"), error.data if isinstance(error, ConvexError) else None)


def uncaught(failure: Failure) -> CallFailure:
    """A text without frames ends its line all the same."""
    message = failure.message if failure.message.endswith("\n") else f"{failure.message}\n"
    return CallFailure(_cut(message), failure.data)


def _cut(message: str) -> str:
    data = message.encode()
    return message if len(data) <= LONGEST_MESSAGE else data[:LONGEST_MESSAGE].decode(errors="ignore")
