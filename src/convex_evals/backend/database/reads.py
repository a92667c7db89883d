"""What a transaction has read, precise enough to tell which commits would have changed it."""

from collections.abc import Iterator
from typing import Protocol

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.intervals import Interval, IntervalSet


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

    Reads of user code and reads the backend made on its own are kept apart, because only the former count as
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

    @property
    def is_empty(self) -> bool:
        return not (self.user or self.system or self.searches)
