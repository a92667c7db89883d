"""What one socket subscribes to, and how it is brought from one version to the next. No I/O, no clock.

The session calls `modify` and `authenticate` as messages arrive. An update then is `begin` (take over what arrived,
learn which queries must run at which snapshot), running them, and `finish` (the Transition that tells the client).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from convex_evals.backend.functions import QueryOutcome
from convex_evals.backend.identity import ANONYMOUS, Identity
from convex_evals.backend.sync.client_messages import AddQuery, Modification, ModifyQuerySet, RemoveQuery
from convex_evals.backend.sync.errors import BrokenInvariant, ProtocolViolation
from convex_evals.backend.sync.server_messages import (
    Failure,
    QueryFailed,
    QueryRemoved,
    QueryUpdated,
    StateModification,
    StateVersion,
    Transition,
)

if TYPE_CHECKING:
    from convex_evals.backend.database import ReadSet

ChangedSince = Callable[["ReadSet", int], bool]


class Touching(Protocol):
    """A commit, as far as subscriptions care."""

    def touches(self, read_set: "ReadSet") -> bool: ...


@dataclass(slots=True)
class LiveQuery:
    """`stale`: the client may have seen something that is no longer true."""

    request: AddQuery
    journal: str | None
    stale: bool = True
    read_set: "ReadSet | None" = None
    shown: bytes | None = None  # digest of the result the client has


@dataclass(frozen=True, slots=True)
class Update:
    """The queries to run at the snapshot `end.ts`, as `identity`, to bring the client to `end`."""

    end: StateVersion
    identity: Identity
    removed: frozenset[int]
    to_run: tuple[LiveQuery, ...]


@dataclass(slots=True)
class QuerySet:
    version: StateVersion = field(default_factory=StateVersion)  # of the last Transition
    identity: Identity = ANONYMOUS  # the newest one received
    _received_query_set: int = 0
    _received_identity: int = 0
    _pending: list[Modification] = field(default_factory=list)
    _subscribed: set[int] = field(default_factory=set)  # as the client sees it: pending modifications included
    _queries: dict[int, LiveQuery] = field(default_factory=dict)

    def modify(self, message: ModifyQuerySet) -> None:
        _check_base(message.base_version, self._received_query_set)
        if message.new_version <= message.base_version:
            raise BrokenInvariant(f"query set version {message.new_version} does not follow {message.base_version}")
        for modification in message.modifications:
            self._subscribe(modification)
        self._pending.extend(message.modifications)
        self._received_query_set = message.new_version

    def _subscribe(self, modification: Modification) -> None:
        query_id = modification.query_id
        match modification:
            case AddQuery() if query_id in self._subscribed:
                raise BrokenInvariant(f"query {query_id} was added twice")
            case AddQuery():
                self._subscribed.add(query_id)
            case RemoveQuery() if query_id not in self._subscribed:
                raise BrokenInvariant(f"query {query_id} was removed but never added")
            case RemoveQuery():
                self._subscribed.remove(query_id)

    @property
    def subscriptions(self) -> int:
        return len(self._subscribed)

    def authenticate(self, base_version: int, identity: Identity) -> None:
        _check_base(base_version, self._received_identity)
        self._received_identity += 1
        self.identity = identity

    def invalidate(self, commit: Touching) -> bool:
        """Marks the queries that read what `commit` wrote. True when there are any."""
        touched = [query for query in self._queries.values() if _is_touched(query, commit)]
        for query in touched:
            query.stale = True
        return bool(touched)

    def invalidate_all(self) -> None:
        for query in self._queries.values():
            query.stale = True

    def begin(self, ts: int) -> Update:
        """`ts` is the newest snapshot; every query that is not stale is known to be unchanged up to it."""
        if self._received_identity > self.version.identity:
            self.invalidate_all()
        removed = self._apply_pending()
        end = StateVersion(self._received_query_set, self._received_identity, max(ts, self.version.ts))
        to_run = tuple(query for query in self._queries.values() if query.stale)
        for query in to_run:
            query.stale, query.read_set = False, None
        return Update(end, self.identity, frozenset(removed), to_run)

    def _apply_pending(self) -> set[int]:
        removed: set[int] = set()
        for modification in self._pending:
            match modification:
                case AddQuery(query_id=query_id, journal=journal):
                    self._queries[query_id] = LiveQuery(modification, journal)
                case RemoveQuery(query_id):
                    del self._queries[query_id]
                    removed.add(query_id)
        self._pending.clear()
        return removed - self._queries.keys()

    def finish(self, update: Update, outcomes: Mapping[int, QueryOutcome], changed_since: ChangedSince) -> Transition:
        """`outcomes` are the results of `update.to_run` by query id. Queries that were overtaken by commits while they
        ran are stale again; `is_stale` tells."""
        changes: dict[int, StateModification] = {query_id: QueryRemoved(query_id) for query_id in update.removed}
        for query in update.to_run:
            query_id = query.request.query_id
            outcome = outcomes[query_id]
            query.read_set, query.journal = outcome.read_set, outcome.journal
            query.stale = query.stale or (
                outcome.read_set is not None and changed_since(outcome.read_set, update.end.ts)
            )
            digest = _digest(outcome)
            if digest != query.shown:
                changes[query_id] = _modification(query_id, outcome)
                query.shown = digest
        start, self.version = self.version, update.end
        return Transition(start, update.end, tuple(changes[query_id] for query_id in sorted(changes)))

    @property
    def is_stale(self) -> bool:
        return any(query.stale for query in self._queries.values())


def _check_base(base_version: int, current: int) -> None:
    if base_version != current:
        raise ProtocolViolation(f"Base version {base_version} passed up doesn't match the current version {current}")


def _is_touched(query: LiveQuery, commit: Touching) -> bool:
    return not query.stale and query.read_set is not None and commit.touches(query.read_set)


def _modification(query_id: int, outcome: QueryOutcome) -> StateModification:
    if outcome.failure is None:
        return QueryUpdated(query_id, outcome.value or "null", outcome.log_texts, outcome.journal)
    failure = Failure(outcome.failure.text(outcome.request_id), outcome.failure.data)
    return QueryFailed(query_id, failure, outcome.log_texts, outcome.journal)


def _digest(outcome: QueryOutcome) -> bytes:
    """Equal for outcomes a client cannot tell apart. The request id in an error's text does not count."""
    failure = outcome.failure
    parts = [outcome.value] if failure is None else [None, failure.message, failure.data]
    digest = blake2b(digest_size=16)
    for part in [*parts, *outcome.log_texts]:
        digest.update(b"-" if part is None else b"%d:%s" % (len(part), part.encode()))
    return digest.digest()
