"""What a session needs from the rest of the deployment, and from the wire."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from convex_evals.backend.functions import Call, CallOutcome, MutationOutcome, QueryOutcome, SessionRequest

if TYPE_CHECKING:
    from convex_evals.backend.database import Commit, ReadSet


class Functions(Protocol):
    async def query(self, call: Call, *, at: int | None = None, journal: str | None = None) -> QueryOutcome: ...

    async def mutation(self, call: Call, *, session_request: SessionRequest | None = None) -> MutationOutcome: ...

    async def action(self, call: Call) -> CallOutcome: ...


class History(Protocol):
    """The database as subscriptions see it."""

    @property
    def latest(self) -> int: ...

    def changed_since(self, read_set: "ReadSet", ts: int) -> bool: ...

    def on_commit(self, callback: "Callable[[Commit], None]") -> Callable[[], None]:
        """Returns how to stop that."""
        ...

    def requests_of(self, session_id: str) -> "ReadSet":
        """Touched by the commits of mutations that this session asked for."""
        ...


class Socket(Protocol):
    """One WebSocket, already accepted. Every method raises Disconnected when the client is gone."""

    async def receive(self) -> str:
        """The next text frame; BrokenInvariant for a binary one."""
        ...

    async def send(self, text: str) -> None: ...

    async def close(self, code: int | None, reason: str) -> None: ...
