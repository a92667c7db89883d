"""Counts of runs: kept in the run's row when it finishes, counted from its attempts while it goes on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Select, Subquery, func, select
from sqlalchemy.orm import Session

from convex_evals.scores.attempts import RESULTS
from convex_evals.scores.records import Counts
from convex_evals.scores.rows import AttemptRow, ExtraTrialRow, PlannedEvalRow, RunRow

KEPT: Final = ("evals", "total", "passed", "failed", "skipped", "infrastructure")


class RunCounts(NamedTuple):
    counts: Counts
    evals: int  # planned


def count_runs(session: Session, rows: Sequence[RunRow]) -> dict[str, RunCounts]:
    """By run. Code that knows nothing of kept counts may have finished a run since: then they are of another moment."""
    kept = {row.id: _kept(row) for row in rows if row.counted_at is not None and row.counted_at == row.finished_at}
    rest = [row for row in rows if row.id not in kept]
    return kept | _count(session, rest) if rest else kept


def keep_counts(session: Session, row: RunRow, moment: datetime) -> None:
    """For a run that finishes at this moment, when nothing more can be recorded in it."""
    session.flush()
    counts, evals = _count(session, [row])[row.id]
    for name, number in asdict(counts).items():
        setattr(row, name, number)
    row.evals, row.counted_at = evals, moment


def provisional_counts(moment: datetime | None) -> dict[str, object]:
    """For a run whose attempts follow in the same transaction; `keep_counts` is called when they are there."""
    return {**dict.fromkeys(KEPT, None if moment is None else 0), "counted_at": moment}


def _kept(row: RunRow) -> RunCounts:
    numbers = {name: getattr(row, name) for name in ("passed", "failed", "skipped", "infrastructure", "total")}
    return RunCounts(Counts(**numbers), row.evals or 0)


def _count(session: Session, rows: Sequence[RunRow]) -> dict[str, RunCounts]:
    run_ids = select(RunRow.id).where(RunRow.id.in_([row.id for row in rows]))
    results = _results(session, run_ids)
    evals = _numbers(session, PlannedEvalRow, run_ids)
    extra = _numbers(session, ExtraTrialRow, run_ids)
    return {
        row.id: RunCounts(Counts(**results[row.id], total=evals[row.id] * row.trials + extra[row.id]), evals[row.id])
        for row in rows
    }


def _results(session: Session, run_ids: Select[str]) -> defaultdict[str, dict[str, int]]:
    """By run, how often each status is a result."""
    results: defaultdict[str, dict[str, int]] = defaultdict(dict)
    latest = _latest_results(run_ids)
    for run_id, status, number in session.execute(
        select(latest.c.run_id, latest.c.status, func.count())
        .where(latest.c.age == 1)
        .group_by(latest.c.run_id, latest.c.status)
    ):
        results[run_id][status] = number
    return results


def _numbers(
    session: Session, rows: type[PlannedEvalRow] | type[ExtraTrialRow], run_ids: Select[str]
) -> defaultdict[str, int]:
    """By run, how many of these rows there are."""
    counted = select(rows.run_id, func.count()).where(rows.run_id.in_(run_ids)).group_by(rows.run_id)
    numbers: defaultdict[str, int] = defaultdict(int)
    for run_id, number in session.execute(counted):
        numbers[run_id] = number
    return numbers


def _latest_results(run_ids: Select[str]) -> Subquery:
    place = (AttemptRow.run_id, AttemptRow.eval, AttemptRow.trial)
    age = func.row_number().over(partition_by=place, order_by=AttemptRow.number.desc())
    return (
        select(AttemptRow.run_id, AttemptRow.status, age.label("age"))
        .where(AttemptRow.run_id.in_(run_ids), AttemptRow.status.in_(RESULTS))
        .subquery()
    )
