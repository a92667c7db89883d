"""Many runs at once, in a few statements: what pages and leaderboards need of each, and nothing more."""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from convex_evals.scores import runs
from convex_evals.scores.attempts import RESULTS
from convex_evals.scores.database import Database
from convex_evals.scores.records import Answer, Mistake, PlannedEval, Result, RunKey, RunRecord
from convex_evals.scores.rows import (
    AttemptRow,
    ChangeCountRow,
    DiagnosticRow,
    GenerationRow,
    PlannedEvalRow,
    RunRow,
    UsageRow,
)

AT_ONCE: Final = 500
"""Ids in one statement; both databases take more, but not any number."""


class History:
    def __init__(self, database: Database) -> None:
        self._database = database

    def index(self) -> tuple[RunKey, ...]:
        """Every run that is not hidden, newest first."""
        counts = select(ChangeCountRow.subject, func.sum(ChangeCountRow.number).label("changes"))
        counted = counts.group_by(ChangeCountRow.subject).subquery()
        query = (
            select(RunRow.id, RunRow.status, func.coalesce(counted.c.changes, 0))
            .outerjoin(counted, counted.c.subject == RunRow.id)
            .where(RunRow.hidden.is_(False))
            .order_by(RunRow.started_at.desc(), RunRow.id.desc())
        )
        with self._database.reading() as session:
            return tuple(RunKey(run_id, status, int(changes)) for run_id, status, changes in session.execute(query))

    def runs(self, ids: Sequence[str]) -> Iterator[RunRecord]:
        with self._database.reading() as session:
            for some in _batches(ids):
                yield from runs.read_runs(session, some)

    def planned(self, ids: Sequence[str]) -> dict[str, frozenset[PlannedEval]]:
        """By run. Runs that plan the same share one set, so that a thousand of them take no more room than one."""
        found: dict[str, list[PlannedEval]] = {run_id: [] for run_id in ids}
        columns = (PlannedEvalRow.eval, PlannedEvalRow.content_fingerprint, PlannedEvalRow.grader_fingerprint)
        known: dict[tuple[str | None, ...], PlannedEval] = {}
        with self._database.reading() as session:
            for some in _batches(ids):
                query = select(PlannedEvalRow.run_id, *columns).where(PlannedEvalRow.run_id.in_(some))
                for run_id, eval, content, grader in session.execute(query):
                    each = known.setdefault((eval, content, grader), PlannedEval(eval, content, grader))
                    found[run_id].append(each)
        shared: dict[frozenset[PlannedEval], frozenset[PlannedEval]] = {}
        return {run_id: shared.setdefault(plan := frozenset(each), plan) for run_id, each in found.items()}

    def results(self, ids: Sequence[str]) -> dict[str, tuple[Result, ...]]:
        """By run, of each eval and trial the latest attempt that has a result."""
        found: dict[str, dict[tuple[str, int], Result]] = {run_id: {} for run_id in ids}
        columns = (AttemptRow.eval, AttemptRow.trial, AttemptRow.status, AttemptRow.failed_step)
        with self._database.reading() as session:
            for some in _batches(ids):
                query = select(AttemptRow.run_id, *columns)
                query = query.where(AttemptRow.run_id.in_(some), AttemptRow.status.in_(RESULTS))
                rows = session.execute(query.order_by(AttemptRow.run_id, AttemptRow.number))
                for run_id, eval, trial, status, failed_step in rows:
                    found[run_id][eval, trial] = Result(eval, trial, status, failed_step)
        return {run_id: tuple(each.values()) for run_id, each in found.items()}

    def answers(self, ids: Sequence[str]) -> dict[str, tuple[Answer, ...]]:
        """By run, what models were really asked: no answers from a cache, and none that were only graded again.

        Answers that were paid for and of no use are among them.
        """
        found: dict[str, list[Answer]] = {run_id: [] for run_id in ids}
        times = (UsageRow.first_token_ms, UsageRow.generation_ms)
        tokens = (UsageRow.input_tokens, UsageRow.output_tokens, UsageRow.cached_tokens, UsageRow.reasoning_tokens)
        usable = GenerationRow.attempt_id.is_not(None)
        recorded = func.coalesce(GenerationRow.recorded_at, AttemptRow.finished_at, AttemptRow.started_at)
        columns = (AttemptRow.eval, UsageRow.cost_usd, *times, *tokens, UsageRow.cost_source, usable, recorded)
        with self._database.reading() as session:
            for some in _batches(ids):
                query = (
                    select(AttemptRow.run_id, *columns)
                    .join(UsageRow, UsageRow.attempt_id == AttemptRow.id)
                    .outerjoin(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
                    .where(AttemptRow.run_id.in_(some))
                    .where(GenerationRow.reused_from.is_(None), GenerationRow.from_cache.is_not(True))
                )
                for row in session.execute(query):
                    found[row.run_id].append(Answer._make(row[1:]))
        return {run_id: tuple(each) for run_id, each in found.items()}

    def mistakes(self, eval: str, most: int = 20) -> tuple[Mistake, ...]:
        """What answers to an eval fail with, the most frequent first."""
        counted = func.count(AttemptRow.run_id.distinct())
        columns = (func.min(DiagnosticRow.name), func.min(DiagnosticRow.message), func.max(AttemptRow.id))
        query = (
            select(DiagnosticRow.step, *columns, counted, func.count(RunRow.model_id.distinct()))
            .join(AttemptRow, AttemptRow.id == DiagnosticRow.attempt_id)
            .join(RunRow, RunRow.id == AttemptRow.run_id)
            .where(AttemptRow.eval == eval, AttemptRow.status == "failed", RunRow.hidden.is_(False))
            .where(DiagnosticRow.step == AttemptRow.failed_step)
            .group_by(DiagnosticRow.step, DiagnosticRow.fingerprint)
            .order_by(counted.desc(), DiagnosticRow.step)
            .limit(most)
        )
        with self._database.reading() as session:
            found = session.execute(query).all()
            examples = _examples(session, [row[3] for row in found])
        return tuple(
            Mistake(step, name, message, runs, models, *examples[attempt])
            for step, name, message, attempt, runs, models in found
        )


def _examples(session: Session, attempts: Sequence[str]) -> dict[str, tuple[str, str, int]]:
    """By attempt, its run, experiment and trial."""
    query = (
        select(AttemptRow.id, AttemptRow.run_id, RunRow.experiment, AttemptRow.trial)
        .join(RunRow, RunRow.id == AttemptRow.run_id)
        .where(AttemptRow.id.in_(attempts))
    )
    return {attempt: (run_id, experiment, trial) for attempt, run_id, experiment, trial in session.execute(query)}


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
