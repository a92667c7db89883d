"""What runs came to, kept from one page to the next: read again when it changed, and computed once for everyone."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from fastapi import Request

from convex_evals.runner import (
    Choice,
    ComparedRuns,
    Leaderboard,
    RunFigures,
    RunResults,
    choose_runs,
    compare_runs,
    rank_models,
    read_figures,
    unminted_benchmark,
    why_left_out,
)
from convex_evals.scores import Benchmark, RunKey
from convex_evals.suite import Suite

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

Value = TypeVar("Value")
MOST_KEPT: Final = 1024
"""Things that were computed; the one that nobody wanted for longest goes first."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All runs at one moment, newest first, and the versions that are minted.

    `changes` is the store's count of changes at that moment. `settled` is another number whenever something changed but
    runs that are still going on.
    """

    changes: int
    settled: int
    runs: tuple[RunFigures, ...]
    minted: tuple[Benchmark, ...]


class ResultsCache:
    """One for each application; any number of threads may ask it.

    The store counts its changes, whoever makes them, so what is kept is never older than what is asked for.
    """

    def __init__(self, store: "ScoresStore") -> None:
        self.store = store
        self._reads, self._keeps = Lock(), Lock()
        self._turns: dict[Hashable, Lock] = {}  # for each thing that is being computed
        self._snapshot: Snapshot | None = None
        self._read: dict[str, tuple[RunKey, RunFigures]] = {}
        self._kept: dict[Hashable, tuple[int, object]] = {}

    def snapshot(self) -> Snapshot:
        """Only runs that changed are read again. Someone else may have done that meanwhile."""
        changes, found = self.store.changes.count(), self._snapshot
        if found is not None and found.changes >= changes:
            return found
        with self._reads:
            if self._snapshot is None or self._snapshot.changes < changes:
                self._snapshot = self._take(changes)
            return self._snapshot

    def once(self, key: Hashable, number: int, compute: Callable[[], Value]) -> Value:
        """What was computed for this key when the number was the same. Whoever comes meanwhile waits for it."""
        if (found := self._find(key, number)) is None:
            with self._turn(key):
                if (found := self._find(key, number)) is None:
                    found = (number, compute())
                    self._keep(key, found)
        value: Value = found[1]  # type: ignore[assignment]
        return value

    @contextmanager
    def _turn(self, key: Hashable) -> Iterator[None]:
        with self._keeps:
            turn = self._turns.setdefault(key, Lock())
        try:
            with turn:
                yield
        finally:
            with self._keeps:
                self._turns.pop(key, None)

    def _find(self, key: Hashable, number: int) -> tuple[int, object] | None:
        with self._keeps:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found  # now the latest
        return found if found is not None and found[0] == number else None

    def _keep(self, key: Hashable, found: tuple[int, object]) -> None:
        with self._keeps:
            self._kept[key] = found
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]

    def _take(self, changes: int) -> Snapshot:
        """What is read after the changes were counted may be newer than the count, and then is read once more."""
        before, last = self._read, self._snapshot
        keys, minted = self.store.history.index(), self.store.benchmarks()
        known = {key.id for key in keys if key.id in before and before[key.id][0] == key}
        fresh = {
            each.run.id: each for each in read_figures(self.store, [key.id for key in keys if key.id not in known])
        }
        self._read = {
            key.id: (key, fresh[key.id] if key.id in fresh else before[key.id][1])
            for key in keys
            if key.id in fresh or key.id in known
        }
        same = last is not None and last.minted == minted and _settled(before) == _settled(self._read)
        settled = last.settled if last is not None and same else changes
        return Snapshot(changes, settled, tuple(figures for _, figures in self._read.values()), minted)


def _settled(read: dict[str, tuple[RunKey, RunFigures]]) -> list[RunKey]:
    return [key for key, _ in read.values() if key.status != "running"]


class Results:
    """What one page shows: all of it as it was when it was asked for first."""

    def __init__(self, cache: ResultsCache) -> None:
        self._cache = cache

    @cached_property
    def _snapshot(self) -> Snapshot:
        return self._cache.snapshot()

    def runs(self) -> tuple[RunFigures, ...]:
        """Newest first."""
        return self._snapshot.runs

    def by_id(self) -> dict[str, RunFigures]:
        return self.once("by id", lambda: {each.run.id: each for each in self.runs()})

    def read(self, ids: Sequence[str]) -> tuple[RunFigures, ...]:
        """Runs that lists leave out, for whoever names them."""
        return tuple(read_figures(self._cache.store, ids))

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Computed again when anything changed."""
        return self._cache.once(key, self._snapshot.changes, compute)

    def once_settled(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Computed again when anything changed but runs that are still going on."""
        return self._cache.once(("settled", key), self._snapshot.settled, compute)

    def settled_runs(self) -> tuple[RunFigures, ...]:
        """Without those that are still going on."""
        return self.once_settled("runs", lambda: tuple(each for each in self.runs() if each.run.status != "running"))

    def benchmarks(self) -> tuple[Benchmark, ...]:
        """The newest first. Without any, what the newest complete run was asked and graded with stands for one."""
        return self._snapshot.minted or self.once_settled("benchmarks", self._unminted)

    def _unminted(self) -> tuple[Benchmark, ...]:
        current = unminted_benchmark(self.settled_runs())
        return (current,) if current else ()

    def choice(self, benchmark: Benchmark) -> Choice:
        """Of what is left out, runs in progress come first."""
        key = ("choice", benchmark.name)
        settled = self.once_settled(key, lambda: choose_runs(self.settled_runs(), benchmark))
        going_on = [each for each in self.runs() if each.run.status == "running"]
        return Choice(settled.runs, choose_runs(going_on, benchmark).left_out + settled.left_out)

    def version_of(self, figures: RunFigures) -> str | None:
        """The newest benchmark version that a run belongs to."""
        versions = self.once_settled("versions", self._versions)
        return versions.get(figures.run.id)

    def _versions(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for version in self._snapshot.minted:
            for each in self.settled_runs():
                if each.run.id not in found and why_left_out(each, version) is None:
                    found[each.run.id] = version.name
        return found

    def leaderboard(self, benchmark: Benchmark, experiment: str, suite: Suite | None = None) -> Leaderboard:
        """`suite` is the one at hand, whose tags group evals."""
        tags = suite.tags if suite else {}
        choice = self.choice(benchmark)
        key = ("leaderboard", benchmark.name, experiment, bool(tags))
        found = self.once_settled(key, lambda: rank_models(choice, benchmark, experiment, tags))
        return Leaderboard(benchmark, experiment, found.standings, choice.left_out, found.guidelines)

    def compare(self, runs: tuple[RunFigures, ...]) -> tuple[ComparedRuns, ...]:
        sides = [RunResults(each.run, each.results, tuple(each.planned)) for each in runs]
        return self.once(("compare", *(each.run.id for each in runs)), lambda: compare_runs(sides))


async def results_of(request: Request) -> Results:
    """Use as a dependency: `results: Annotated[Results, Depends(results_of)]`. It reads nothing before it is asked."""
    return Results(request.app.state.results)
