"""Committed index entries with the span of time in which each is visible."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sortedcontainers import SortedDict

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.intervals import Interval

FOREVER: Final = 2**63 - 1


class Row(NamedTuple):
    key: bytes
    document: Document


@dataclass(slots=True)
class Version:
    """Visible from `start` until before `end`."""

    start: int
    document: Document
    older: "Version | None" = None
    end: int = FOREVER

    def at(self, ts: int) -> Document | None:
        version: Version | None = self
        while version is not None and version.start > ts:
            version = version.older
        return version.document if version is not None and version.end > ts else None


class VersionedIndex:
    """Entries sorted by key. Every key ends in a document's id, so a key belongs to one document."""

    __slots__ = ("_entries", "live")

    def __init__(self) -> None:
        self._entries: SortedDict = SortedDict()  # bytes -> Version, newest first
        self.live = 0

    def get(self, key: bytes, ts: int) -> Document | None:
        version: Version | None = self._entries.get(key)
        return None if version is None else version.at(ts)

    def scan(self, interval: Interval, ts: int, descending: bool = False) -> Iterator[Row]:
        entries = self._entries
        for key in entries.irange(interval.start, interval.end, inclusive=(True, False), reverse=descending):
            document = entries[key].at(ts)
            if document is not None:
                yield Row(key, document)

    def load(self, documents: Iterable[tuple[bytes, Document]], ts: int) -> None:
        """Fills an empty index."""
        self._entries.update({key: Version(ts, document) for key, document in documents})
        self.live = len(self._entries)

    def end(self, key: bytes, ts: int) -> Version:
        version: Version = self._entries[key]
        version.end = ts
        self.live -= 1
        return version

    def start(self, documents: Mapping[bytes, Document], ts: int) -> None:
        entries = self._entries
        entries.update({key: Version(ts, document, entries.get(key)) for key, document in documents.items()})
        self.live += len(documents)

    def forget(self, key: bytes, ended: Version) -> None:
        """Drops an ended version and everything older."""
        version: Version = self._entries[key]
        if version is ended:
            del self._entries[key]
            return
        while version.older is not None and version.older is not ended:
            version = version.older
        version.older = None


class _Garbage(NamedTuple):
    ts: int
    storage: str
    key: bytes | None  # None: the whole index was dropped
    version: Version | None


class VersionStore:
    """All indexes of all tables, by their storage names."""

    def __init__(self) -> None:
        self._indexes: dict[str, VersionedIndex] = {}
        self._garbage: deque[_Garbage] = deque()

    def index(self, storage: str) -> VersionedIndex:
        index = self._indexes.get(storage)
        if index is None:
            index = self._indexes[storage] = VersionedIndex()
        return index

    def end(self, storage: str, key: bytes, ts: int) -> None:
        self._garbage.append(_Garbage(ts, storage, key, self._indexes[storage].end(key, ts)))

    def drop(self, storage: str, ts: int) -> None:
        self._garbage.append(_Garbage(ts, storage, None, None))

    def collect(self, horizon: int) -> None:
        """Forgets what no snapshot at or after `horizon` can see."""
        garbage = self._garbage
        while garbage and garbage[0].ts <= horizon:
            item = garbage.popleft()
            index = self._indexes.get(item.storage)
            if index is None:
                continue
            if item.key is None or item.version is None:
                del self._indexes[item.storage]
            else:
                index.forget(item.key, item.version)
