"""Attempts at an eval and trial of a run: begun, finished once, never changed after that.

An attempt has at most one generation: what the model was asked, what came back, and what it took.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.orm import Session

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import new_id, prefix
from convex_evals.core.steps import TestCounts
from convex_evals.scores.artifacts import files_bytes, put_all, text_bytes
from convex_evals.scores.records import (
    AttemptRecord,
    AttemptStatus,
    Generation,
    GenerationRecord,
    OpenAttempt,
    Outcome,
    Usage,
)
from convex_evals.scores.rows import AttemptRow, ExtraTrialRow, GenerationRow, PlannedEvalRow, RunRow, UsageRow

RESULTS: Final[tuple[AttemptStatus, ...]] = ("passed", "failed", "skipped", "infrastructure")


def begin_attempt(session: Session, run_id: str, eval: str, trial: int) -> OpenAttempt:
    _check_planned(session, run_id, eval, trial)
    place = (AttemptRow.run_id == run_id, AttemptRow.eval == eval, AttemptRow.trial == trial)
    latest = session.scalar(select(AttemptRow).where(*place).order_by(AttemptRow.number.desc()).limit(1))
    if latest is not None and latest.status == "running":
        raise InfrastructureError(f"{_named(latest)} is still open; wait for the process that works on it.")
    begun = OpenAttempt(new_id(), run_id, eval, trial, latest.number + 1 if latest else 1)
    session.add(
        AttemptRow(
            id=begun.id,
            run_id=run_id,
            eval=eval,
            trial=trial,
            number=begun.number,
            status="running",
            notes=[],
            started_at=datetime.now(UTC),
        )
    )
    return begun


def finish_attempt(session: Session, attempt_id: str, outcome: Outcome) -> None:
    row = open_attempt(session, attempt_id)
    row.status = outcome.status
    row.failed_step = outcome.failed_step
    row.failure = outcome.failure
    if outcome.tests is not None:
        row.tests_passed, row.tests_total = outcome.tests.passed, outcome.tests.total
    row.duration_ms, row.cpu_ms = outcome.duration_ms, outcome.cpu_ms
    row.broken = outcome.broken
    row.notes = list(outcome.notes)
    row.finished_at = datetime.now(UTC)


def open_attempt(session: Session, attempt_id: str) -> AttemptRow:
    """The attempt, kept open until the end of the transaction. Raises InfrastructureError when it is finished."""
    row = session.get(AttemptRow, attempt_id, with_for_update=True)
    if row is None:
        raise UsageError(f"There is no attempt {attempt_id!r} in these scores; begin it first.")
    if row.status != "running":
        raise InfrastructureError(
            f"{_named(row)} is over ({row.status}), so nothing can be added to it; begin another one."
        )
    return row


def interrupt_open_attempts(session: Session, run_id: str) -> None:
    """Whoever worked on them is gone. They stay as evidence and are not results."""
    session.execute(
        update(AttemptRow)
        .where(AttemptRow.run_id == run_id, AttemptRow.status == "running")
        .values(status="interrupted", finished_at=datetime.now(UTC))
    )


def read_attempt(session: Session, attempt_id: str) -> AttemptRecord:
    row = session.get(AttemptRow, attempt_id)
    if row is None:
        raise UsageError(f"There is no attempt {attempt_id!r} in these scores; `results` of a run have their ids.")
    return _attempt_record(row)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Which attempts of a run are meant: all, those at one eval, those that ended in one of these ways."""

    run_id: str
    eval: str | None = None
    statuses: Sequence[AttemptStatus] | None = None

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        yield AttemptRow.run_id == self.run_id
        if self.eval is not None:
            yield AttemptRow.eval == self.eval
        if self.statuses is not None:
            yield AttemptRow.status.in_(self.statuses)


def read_attempts(session: Session, which: Attempts) -> tuple[AttemptRecord, ...]:
    """By eval, trial and number."""
    rows = session.scalars(select(AttemptRow).where(*which.conditions()))
    return tuple(sorted(map(_attempt_record, rows), key=lambda each: (each.eval, each.trial, each.number)))


def results_of(attempts: Iterable[AttemptRecord]) -> tuple[AttemptRecord, ...]:
    """Of each eval and trial the latest attempt that has a result."""
    latest = {(each.eval, each.trial): each for each in attempts if each.status in RESULTS}
    return tuple(latest.values())


def _check_planned(session: Session, run_id: str, eval: str, trial: int) -> None:
    run = session.get(RunRow, run_id, with_for_update={"read": True})
    # Locked, so that two processes cannot give the same number to two attempts.
    planned = session.get(PlannedEvalRow, (run_id, eval), with_for_update=True)
    if run is None or planned is None or not (1 <= trial <= run.trials or _is_extra(session, run_id, eval, trial)):
        raise UsageError(f"Trial {trial} of eval {eval!r} is not in the plan of run {run_id!r}.")
    if run.status != "running":
        raise UsageError(f"Run {prefix(run_id)} is {run.status}; resume it first.")


def _is_extra(session: Session, run_id: str, eval: str, trial: int) -> bool:
    return session.get(ExtraTrialRow, (run_id, eval, trial)) is not None


def _named(row: AttemptRow) -> str:
    return f"Attempt {row.number} at {row.eval} (trial {row.trial} of run {prefix(row.run_id)})"


def _attempt_record(row: AttemptRow) -> AttemptRecord:
    counted = row.tests_passed is not None and row.tests_total is not None
    return AttemptRecord(
        id=row.id,
        run_id=row.run_id,
        eval=row.eval,
        trial=row.trial,
        number=row.number,
        status=row.status,
        failed_step=row.failed_step,
        failure=row.failure,
        tests=TestCounts(row.tests_passed or 0, row.tests_total or 0) if counted else None,
        duration_ms=row.duration_ms,
        cpu_ms=row.cpu_ms,
        broken=row.broken,
        notes=tuple(row.notes),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def insert_generation(session: Session, attempt_id: str, generation: Generation) -> None:
    _check_first_generation(session, attempt_id)
    prompt, response = text_bytes(generation.prompt), text_bytes(generation.response)
    kept = put_all(session, prompt, response, files_bytes(generation.files))
    session.add(
        GenerationRow(
            attempt_id=attempt_id,
            prompt=kept[0],
            response=kept[1],
            files=kept[2],
            from_cache=generation.from_cache,
            truncated=generation.truncated,
            notes=list(generation.notes),
            recorded_at=datetime.now(UTC),
        )
    )
    tries = [*generation.unusable, *([generation.usage] if generation.usage is not None else [])]
    if tries:
        session.add(UsageRow(attempt_id=attempt_id, **asdict(Usage.of_tries(tries))))


def insert_usage(session: Session, attempt_id: str, tries: Sequence[Usage]) -> None:
    """Of an attempt at which no answer was of use."""
    _check_first_generation(session, attempt_id)
    session.add(UsageRow(attempt_id=attempt_id, **asdict(Usage.of_tries(tries))))


def insert_reused_generation(session: Session, attempt_id: str, source_id: str) -> None:
    """The same generation, graded by another attempt. Nothing was asked, so there is no usage."""
    _check_first_generation(session, attempt_id)
    source = session.get(GenerationRow, source_id)
    if source is None:
        raise UsageError(f"Attempt {source_id!r} has no generation that could be used again.")
    session.add(
        GenerationRow(
            attempt_id=attempt_id,
            prompt=source.prompt,
            response=source.response,
            files=source.files,
            from_cache=source.from_cache,
            truncated=source.truncated,
            notes=source.notes,
            reused_from=source.reused_from or source.attempt_id,
            recorded_at=datetime.now(UTC),
        )
    )


def read_generations(session: Session, which: Attempts) -> dict[str, GenerationRecord]:
    """By attempt."""
    query = _with_usage().join(AttemptRow, AttemptRow.id == GenerationRow.attempt_id)
    return {
        row.attempt_id: _generation_record(row, usage)
        for row, usage in session.execute(query.where(*which.conditions()))
    }


def _check_first_generation(session: Session, attempt_id: str) -> None:
    open_attempt(session, attempt_id)
    if session.get(GenerationRow, attempt_id) is not None:
        raise ValueError(f"attempt {attempt_id} has a generation already; what is recorded never changes")


def _with_usage() -> Select[GenerationRow, UsageRow | None]:
    asked_by = func.coalesce(GenerationRow.reused_from, GenerationRow.attempt_id)
    return select(GenerationRow, UsageRow).outerjoin(UsageRow, UsageRow.attempt_id == asked_by)


def _generation_record(row: GenerationRow, usage: UsageRow | None) -> GenerationRecord:
    return GenerationRecord(
        attempt_id=row.attempt_id,
        prompt=row.prompt,
        response=row.response,
        files=row.files,
        from_cache=row.from_cache,
        truncated=row.truncated,
        notes=tuple(row.notes or ()),
        reused_from=row.reused_from,
        usage=None if usage is None else Usage(**{field.name: getattr(usage, field.name) for field in fields(Usage)}),
        recorded_at=row.recorded_at,
    )
