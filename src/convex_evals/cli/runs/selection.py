"""Which runs `status` lists."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Final

from convex_evals.cli.runs.lookup import condition, is_of
from convex_evals.core.errors import UsageError
from convex_evals.runner import VALIDATE, last_run
from convex_evals.scores import RunFilter, RunRecord, ScoresStore

BATCH: Final = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs are asked for; None is any."""

    model: str | None
    experiment: str | None
    status: str | None
    since: str | None
    validations: bool
    hidden: bool

    def runs(self, store: ScoresStore) -> Iterator[RunRecord]:
        """Newest first, read as far as they are taken."""
        chosen = RunFilter(experiment=self.experiment, since=self._moment(), limit=BATCH, hidden=self.hidden)
        while batch := store.runs(chosen):
            yield from (run for run in batch if self._has(run, store))
            chosen = replace(chosen, older_than=batch[-1])

    def last_of_each_model(self, store: ScoresStore) -> Iterator[RunRecord]:
        names = dict.fromkeys((run.model, run.experiment) for run in self.runs(store))
        return (run for each in names if (run := last_run(store, *each)) is not None)

    def _has(self, run: RunRecord, store: ScoresStore) -> bool:
        return (
            is_of(run, self.model)
            and (self.validations or VALIDATE not in run.labels)
            and (self.status is None or condition(store, run) == self.status)
        )

    def _moment(self) -> datetime | None:
        if self.since is None:
            return None
        try:
            return datetime.combine(date.fromisoformat(self.since), time(), UTC)
        except ValueError as error:
            raise UsageError(f"--since must be a day like 2026-11-01, but it is {self.since!r}.") from error
