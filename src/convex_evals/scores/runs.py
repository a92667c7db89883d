"""Runs: recorded from a plan, found by id, listed with their counts, how long they were worked on and what is left."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Select, func, insert, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import ALPHABET, LENGTH
from convex_evals.scores.attempts import RESULTS, interrupt_open_attempts
from convex_evals.scores.counts import RunCounts, count_runs, keep_counts
from convex_evals.scores.database import insert_if_new
from convex_evals.scores.records import (
    AttemptStatus,
    Fingerprints,
    PendingEval,
    PlannedEval,
    RunFilter,
    RunPlan,
    RunRecord,
    RunStatus,
)
from convex_evals.scores.rows import (
    AttemptRow,
    ExtraTrialRow,
    GenerationRow,
    ModelRow,
    PlannedEvalRow,
    RunRow,
    StepRow,
    WorkPeriodRow,
)

SHORTEST_PREFIX: Final = 4
_NAMED_RUNS: Final = 5
_HINT: Final = "`convex-evals status` lists the runs"
Tried = list[tuple[AttemptStatus, str | None]]  # status, and the attempt if it has a generation; oldest first


def insert_run(session: Session, plan: RunPlan) -> str:
    run_id = plan.id
    prints = plan.fingerprints
    session.add(
        RunRow(
            id=run_id,
            model_id=model_id(session, plan.model, plan.provider),
            experiment=plan.experiment,
            trials=plan.trials,
            suite_fingerprint=prints.suite,
            content_fingerprint=prints.content,
            grader_fingerprint=prints.grader,
            pipeline_fingerprint=prints.pipeline,
            toolchain_fingerprint=prints.toolchain,
            prompt_fingerprint=prints.prompt,
            options=dict(plan.options),
            labels=list(plan.labels),
            status="running",
            started_at=datetime.now(UTC),
        )
    )
    session.flush()
    rows = [
        {"run_id": run_id, "eval": each.eval, "content_fingerprint": each.content, "grader_fingerprint": each.grader}
        for each in plan.evals
    ]
    if rows:
        session.execute(insert(PlannedEvalRow), rows)
    return run_id


def find_run_id(session: Session, reference: str) -> str:
    """The id that begins with `reference`. Raises UsageError unless there is exactly one."""
    if len(reference) < SHORTEST_PREFIX:
        expected = f"Expected the id of a run or at least its first {SHORTEST_PREFIX} characters"
        raise UsageError(f"{expected}, found {reference!r}; {_HINT}.")
    matching = select(RunRow.id).where(RunRow.id.startswith(reference)).order_by(RunRow.id)
    possible = len(reference) <= LENGTH and set(reference) <= set(ALPHABET)
    found = session.scalars(matching).all() if possible else []
    if not found:
        raise UsageError(f"There is no run {reference!r} in these scores; {_HINT}.")
    if len(found) > 1:
        raise UsageError(_ambiguous(reference, found))
    return found[0]


def list_runs(session: Session, chosen: RunFilter) -> tuple[RunRecord, ...]:
    return _records(session, _newest_first(chosen))


def read_run(session: Session, run_id: str) -> RunRecord:
    records = _records(session, _joined().where(RunRow.id == run_id))
    if not records:
        raise UsageError(f"There is no run {run_id!r} in these scores; {_HINT}.")
    return records[0]


def read_runs(session: Session, ids: Sequence[str]) -> tuple[RunRecord, ...]:
    return _records(session, _joined().where(RunRow.id.in_(ids)))


def read_planned(session: Session, run_id: str) -> tuple[PlannedEval, ...]:
    rows = session.scalars(select(PlannedEvalRow).where(PlannedEvalRow.run_id == run_id))
    planned = (PlannedEval(row.eval, row.content_fingerprint, row.grader_fingerprint) for row in rows)
    # Sorted here, because every server has its own idea of the order of names.
    return tuple(sorted(planned, key=lambda each: each.eval))


def close_run(session: Session, run_id: str, status: RunStatus, reason: str | None) -> None:
    row = locked_run(session, run_id)
    interrupt_open_attempts(session, run_id)
    now = datetime.now(UTC)
    keep_counts(session, row, now)
    row.status, row.reason, row.finished_at = status, reason, now
    begin_period(session, run_id)  # also where nothing was tried: every time it was taken up counts
    end_period(session, run_id, now)


def reopen_run(session: Session, run_id: str) -> None:
    row = locked_run(session, run_id)
    end_period(session, run_id, last_sign_of_work(session, run_id))
    interrupt_open_attempts(session, run_id)
    row.status, row.reason, row.finished_at, row.counted_at = "running", None, None, None


def insert_extra_trials(session: Session, run_id: str, trials: Iterable[tuple[str, int]]) -> None:
    row = locked_run(session, run_id)
    session.add_all(ExtraTrialRow(run_id=run_id, eval=eval, trial=trial) for eval, trial in trials)
    if row.finished_at is not None:
        session.flush()
        keep_counts(session, row, row.finished_at)


def read_extra_trials(session: Session, run_id: str) -> tuple[tuple[str, int], ...]:
    rows = session.scalars(select(ExtraTrialRow).where(ExtraTrialRow.run_id == run_id))
    return tuple(sorted((row.eval, row.trial) for row in rows))


def locked_run(session: Session, run_id: str) -> RunRow:
    row = session.get(RunRow, run_id, with_for_update=True)
    if row is None:
        raise UsageError(f"There is no run {run_id!r} in these scores; {_HINT}.")
    return row


def model_id(session: Session, name: str, provider: str, created_at: datetime | None = None) -> int:
    """Its number in this database, which is given when it is seen first."""
    known = select(ModelRow.id).where(ModelRow.name == name, ModelRow.provider == provider)
    found = session.scalar(known)
    if found is None:
        insert_if_new(session, ModelRow, name=name, provider=provider, created_at=created_at or datetime.now(UTC))
        found = session.scalars(known).one()
    return found


def _ambiguous(reference: str, found: Sequence[str]) -> str:
    named = ", ".join(run_id[: len(reference) + SHORTEST_PREFIX] for run_id in found[:_NAMED_RUNS])
    more = ", …" if len(found) > _NAMED_RUNS else ""
    return f"{len(found)} runs begin with {reference!r} ({named}{more}); give more characters of the one you mean."


def _joined() -> Select[RunRow, str, str]:
    return select(RunRow, ModelRow.name, ModelRow.provider).join(ModelRow, ModelRow.id == RunRow.model_id)


def _newest_first(chosen: RunFilter) -> Select[RunRow, str, str]:
    query = _joined().order_by(RunRow.started_at.desc(), RunRow.id.desc()).limit(chosen.limit)
    conditions = [
        (ModelRow.name, chosen.model),
        (ModelRow.provider, chosen.provider),
        (RunRow.experiment, chosen.experiment),
        (RunRow.status, chosen.status),
    ]
    query = query.where(*(column == value for column, value in conditions if value is not None))
    if not chosen.hidden:
        query = query.where(RunRow.hidden.is_(False))
    if chosen.since is not None:
        query = query.where(RunRow.started_at >= chosen.since)
    if (last := chosen.older_than) is not None:
        same_moment = (RunRow.started_at == last.started_at) & (RunRow.id < last.id)
        query = query.where((RunRow.started_at < last.started_at) | same_moment)
    return query


def _records(session: Session, query: Select[RunRow, str, str]) -> tuple[RunRecord, ...]:
    found = session.execute(query).all()
    worked = read_worked(session, query.with_only_columns(RunRow.id))
    counted = count_runs(session, [row for row, _, _ in found])
    return tuple(_record(row, model, provider, counted[row.id], worked[row.id]) for row, model, provider in found)


def _record(row: RunRow, model: str, provider: str, counted: RunCounts, worked: timedelta) -> RunRecord:
    return RunRecord(
        id=row.id,
        model=model,
        provider=provider,
        experiment=row.experiment,
        status=row.status,
        reason=row.reason,
        trials=row.trials,
        fingerprints=Fingerprints(
            row.suite_fingerprint,
            row.content_fingerprint,
            row.grader_fingerprint,
            row.pipeline_fingerprint,
            row.toolchain_fingerprint,
            row.prompt_fingerprint,
        ),
        options=row.options,
        labels=tuple(row.labels),
        started_at=row.started_at,
        finished_at=row.finished_at,
        counts=counted.counts,
        evals=counted.evals,
        worked=worked,
        hidden=row.hidden,
    )


def begin_period(session: Session, run_id: str) -> None:
    """With the first attempt, since a run waits for those before it. Does nothing while one is under way."""
    if working_since(session, run_id) is None:
        number = session.scalar(select(func.count()).where(WorkPeriodRow.run_id == run_id)) or 0
        insert_if_new(session, WorkPeriodRow, run_id=run_id, number=number + 1, started_at=datetime.now(UTC))


def end_period(session: Session, run_id: str, ended_at: datetime | None) -> None:
    """Of the one that is open, if there is one. It never ends before it began."""
    is_open = (WorkPeriodRow.run_id == run_id, WorkPeriodRow.ended_at.is_(None))
    for row in session.scalars(select(WorkPeriodRow).where(*is_open)):
        row.ended_at = max(row.started_at, ended_at or row.started_at)
    session.flush()


def last_sign_of_work(session: Session, run_id: str) -> datetime | None:
    """A process that was killed says nothing, so what it recorded last is taken for its end."""
    attempts = (AttemptRow.run_id == run_id, AttemptRow.status != "interrupted")
    of_run = select(AttemptRow.id).where(AttemptRow.run_id == run_id)
    moments = (
        session.scalar(select(func.max(AttemptRow.started_at)).where(AttemptRow.run_id == run_id)),
        session.scalar(select(func.max(AttemptRow.finished_at)).where(*attempts)),
        session.scalar(select(func.max(GenerationRow.recorded_at)).where(GenerationRow.attempt_id.in_(of_run))),
        session.scalar(select(func.max(StepRow.recorded_at)).where(StepRow.attempt_id.in_(of_run))),
    )
    return max((moment for moment in moments if moment is not None), default=None)


def read_worked(session: Session, run_ids: Select[str]) -> defaultdict[str, timedelta]:
    """By run, what is over; the period that is under way is not in it."""
    over = select(WorkPeriodRow).where(WorkPeriodRow.run_id.in_(run_ids), WorkPeriodRow.ended_at.is_not(None))
    worked: defaultdict[str, timedelta] = defaultdict(timedelta)
    for row in session.scalars(over):
        if row.ended_at is not None:
            worked[row.run_id] += row.ended_at - row.started_at
    return worked


def working_since(session: Session, run_id: str) -> datetime | None:
    """When the period began that is under way."""
    is_open = (WorkPeriodRow.run_id == run_id, WorkPeriodRow.ended_at.is_(None))
    return session.scalar(select(func.max(WorkPeriodRow.started_at)).where(*is_open))


def read_pending(session: Session, run_id: str) -> tuple[PendingEval, ...]:
    trials = range(1, read_run(session, run_id).trials + 1)
    tried = _tried(session, run_id)
    places = [(planned.eval, trial) for planned in read_planned(session, run_id) for trial in trials]
    places += read_extra_trials(session, run_id)
    all_places = (_pending(eval, trial, tried[eval, trial]) for eval, trial in places)
    return tuple(pending for pending in all_places if pending is not None)


def _pending(eval: str, trial: int, tried: Tried) -> PendingEval | None:
    result = next((status for status, _ in reversed(tried) if status in RESULTS), None)
    if result is not None and result != "infrastructure":
        return None
    generated_by = next((attempt for _, attempt in reversed(tried) if attempt is not None), None)
    return PendingEval(eval, trial, len(tried), result is not None, generated_by)


def _tried(session: Session, run_id: str) -> defaultdict[tuple[str, int], Tried]:
    query = (
        select(AttemptRow.eval, AttemptRow.trial, AttemptRow.status, GenerationRow.attempt_id)
        .outerjoin(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
        .where(AttemptRow.run_id == run_id)
        .order_by(AttemptRow.number)
    )
    tried: defaultdict[tuple[str, int], Tried] = defaultdict(list)
    for eval, trial, status, generated in session.execute(query):
        tried[eval, trial].append((status, generated))
    return tried
