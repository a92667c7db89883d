"""The database as subscriptions see it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convex_evals.backend.database import Commit, Database, ReadSet


class DatabaseHistory:
    def __init__(self, database: "Database") -> None:
        self._database = database

    @property
    def latest(self) -> int:
        return self._database.latest

    def changed_since(self, read_set: "ReadSet", ts: int) -> bool:
        return self._database.changed_since(read_set, ts)

    def on_commit(self, callback: "Callable[[Commit], None]") -> Callable[[], None]:
        return self._database.on_commit(callback)

    def requests_of(self, session_id: str) -> "ReadSet":
        transaction = self._database.begin()
        transaction.system.scan("", "_session_requests", "by_session", (session_id,))
        return transaction.read_set
