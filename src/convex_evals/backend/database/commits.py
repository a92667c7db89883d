"""What transactions read and what commits wrote: whether one touches the other decides conflicts and subscriptions."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.ranges import Interval, IntervalSet
from convex_evals.backend.database.tables import Table


class SearchRead(Protocol):
    """The terms and filters of one text search. Two equal searches compare equal."""

    @property
    def table(self) -> str:
        """The storage key of the table it searches."""
        ...

    def matches(self, document: Document) -> bool:
        """Whether this version of a document could have been among the results."""
        ...


class ReadSet:
    """Index intervals by index key, and text searches.

    Reads by user code and reads by the backend itself are kept apart, because only the former count as
    `databaseQueries`.
    """

    __slots__ = ("searches", "system", "user", "user_intervals")

    def __init__(self) -> None:
        self.user: dict[str, IntervalSet] = {}
        self.system: dict[str, IntervalSet] = {}
        self.searches: list[SearchRead] = []
        self.user_intervals = 0

    def add(self, index: str, interval: Interval) -> None:
        intervals = self.user.get(index)
        if intervals is None:
            intervals = self.user[index] = IntervalSet()
        before = len(intervals)
        intervals.add(interval)
        self.user_intervals += len(intervals) - before

    def add_system(self, index: str, interval: Interval) -> None:
        self.system.setdefault(index, IntervalSet()).add(interval)

    def add_search(self, search: SearchRead) -> None:
        if search not in self.searches:
            self.searches.append(search)

    def on_index(self, index: str) -> Iterator[IntervalSet]:
        for part in (self.user, self.system):
            intervals = part.get(index)
            if intervals is not None:
                yield intervals


class Write(NamedTuple):
    """One document before and after; None is "not there"."""

    table: Table
    id: str
    old: Document | None
    new: Document | None


@dataclass(frozen=True)
class Commit:
    """`keys` holds, per index, the keys that the written documents left and took."""

    ts: int
    writes: tuple[Write, ...] = ()
    source: str | None = None
    keys: Mapping[str, Mapping[bytes, Write]] = field(default_factory=dict, repr=False)
    _sorted: dict[str, list[bytes]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def touches(self, read_set: ReadSet) -> bool:
        """Whether this commit may have changed what was read."""
        return self.first_touching(read_set) is not None

    def first_touching(self, read_set: ReadSet) -> Write | None:
        for storage, keys in self.keys.items():
            for intervals in read_set.on_index(storage):
                ordered = self._in_order(storage)
                position = intervals.first_of(ordered)
                if position is not None:
                    return keys[ordered[position]]
        return self._first_found(read_set)

    def _in_order(self, storage: str) -> list[bytes]:
        """Sorted once, however many read sets are compared with this commit."""
        if storage not in self._sorted:
            self._sorted[storage] = sorted(self.keys[storage])
        return self._sorted[storage]

    def _first_found(self, read_set: ReadSet) -> Write | None:
        for search in read_set.searches:
            for write in self.writes:
                if write.table.storage == search.table and any(
                    document is not None and search.matches(document) for document in (write.old, write.new)
                ):
                    return write
        return None


class CommitLog:
    """Commits in order. Those before `start` are forgotten."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._commits: list[Commit] = []
        self._timestamps: list[int] = []

    def append(self, commit: Commit) -> None:
        self._commits.append(commit)
        self._timestamps.append(commit.ts)

    def since(self, ts: int) -> Iterator[Commit]:
        """Commits after `ts`, oldest first."""
        for position in range(bisect_right(self._timestamps, ts), len(self._commits)):
            yield self._commits[position]

    def first_touching(self, read_set: ReadSet, ts: int) -> tuple[Commit, Write] | None:
        for commit in self.since(ts):
            write = commit.first_touching(read_set)
            if write is not None:
                return commit, write
        return None

    def ids_changed(self, table: Table, ts: int) -> set[str]:
        """Documents of a table that were written after `ts`."""
        storage = table.storage
        return {write.id for commit in self.since(ts) for write in commit.writes if write.table.storage == storage}

    def trim(self, horizon: int) -> None:
        """Forgets the commits up to `horizon`."""
        count = bisect_right(self._timestamps, horizon)
        if count:
            self.start = self._timestamps[count - 1]
            del self._commits[:count], self._timestamps[:count]
