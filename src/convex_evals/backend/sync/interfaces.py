"""What sessions need from the rest of the deployment, and from the socket."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from convex_evals.backend.functions import Call, CallOutcome, MutationOutcome, QueryOutcome, SessionRequest

if TYPE_CHECKING:
    from convex_evals.backend.database import Commit, Database, ReadSet


class Functions(Protocol):
    async def query(self, call: Call, *, at: int | None = None, journal: str | None = None) -> QueryOutcome: ...

    async def mutation(self, call: Call, *, session_request: SessionRequest | None = None) -> MutationOutcome: ...

    async def action(self, call: Call) -> CallOutcome: ...


class Socket(Protocol):
    """One WebSocket, already accepted. Every method raises Disconnected when the client is gone."""

    @property
    def ip(self) -> str | None:
        """Where the client connects from."""
        ...

    @property
    def user_agent(self) -> str | None:
        """What the client called itself when it connected."""
        ...

    async def receive(self) -> str:
        """The next text frame; BrokenInvariant for a binary one."""
        ...

    async def send(self, text: str) -> None: ...

    async def close(self, code: int | None, reason: str) -> None: ...


class History:
    """The database as subscriptions see it."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    @property
    def latest(self) -> int:
        return self._database.latest

    def changed_since(self, read_set: "ReadSet", ts: int) -> bool:
        return self._database.changed_since(read_set, ts)

    def on_commit(self, callback: "Callable[[Commit], None]") -> Callable[[], None]:
        """Returns a function that removes the callback."""
        return self._database.on_commit(callback)

    def requests_of(self, session_id: str) -> "ReadSet":
        """Touched by the commits of this session's mutations."""
        transaction = self._database.begin()
        transaction.system.scan("", "_session_requests", "by_session", (session_id,))
        return transaction.read_set
