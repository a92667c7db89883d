"""The user time of a query or mutation and of everything it calls: one budget for the whole tree of nested calls."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Budget:
    limit_ms: float
    spent_ms: float = 0.0  # by this execution itself
    nested_ms: float = 0.0  # by the calls it made

    @property
    def left_ms(self) -> float:
        return max(self.limit_ms - self.spent_ms - self.nested_ms, 0.0)


# Set while the syscalls of an execution are answered, so that an execution started by them finds its parent.
calling: ContextVar[Budget | None] = ContextVar("calling", default=None)


def nested_budget(user_seconds: float) -> Budget:
    parent = calling.get()
    limit = user_seconds * 1000
    return Budget(limit if parent is None else min(limit, parent.left_ms))
