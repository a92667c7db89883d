"""What a Convex value is in Python: `int` is Int64, `float` is Float64, a `dict` has string keys."""

from enum import Enum
from typing import Final, TypeAlias

Value: TypeAlias = bool | int | float | str | bytes | list["Value"] | dict[str, "Value"] | None

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1


class Undefined(Enum):
    """A field that is not there. Never part of a value; it takes part in index keys, filters and patches."""

    UNDEFINED = "undefined"

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Final = Undefined.UNDEFINED


class CommitTs(int):
    """The commit timestamp of the running mutation, not known yet.

    Until the commit it orders, measures and validates as the largest Int64, so it is one.
    """

    def __repr__(self) -> str:
        return "COMMIT_TS"


COMMIT_TS: Final = CommitTs(INT64_MAX)
