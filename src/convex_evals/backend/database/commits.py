"""Commits, and the log of recent ones that conflicts and subscriptions are decided by."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.reads import ReadSet
from convex_evals.backend.database.tables import Table


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
