"""The joint to `_system/*` functions: they are written in Python and run inside an ordinary transaction."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from convex_evals.backend.deployed import Application, FunctionPath

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction
    from convex_evals.backend.values import Value


@dataclass(slots=True)
class SystemCall:
    """What a system function is given. `journal` is the pagination journal: read it, and set what comes out."""

    path: FunctionPath
    args: "dict[str, Value]"
    transaction: "Transaction"
    application: Application | None
    journal: str | None = None


class SystemFunction(Protocol):
    @property
    def kind(self) -> Literal["query", "mutation"]: ...

    async def run(self, call: SystemCall) -> "Value":
        """Raises DeveloperError (its text reaches the client as it is) or ConvexError."""
        ...


class SystemFunctions(Protocol):
    def find(self, path: FunctionPath) -> SystemFunction | None:
        """`path.module` starts with `_system/`."""
        ...
