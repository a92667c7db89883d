"""Runs: recorded from a plan, found by id, listed with their counts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Select, Subquery, func, insert, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import ALPHABET, LENGTH
from convex_evals.scores.attempts import RESULTS, interrupt_open_attempts
from convex_evals.scores.database import insert_if_new
from convex_evals.scores.periods import begin_period, end_period, last_sign_of_work, read_worked
from convex_evals.scores.plans import Fingerprints, PlannedEval, RunPlan
from convex_evals.scores.records import Counts, RunFilter, RunRecord, RunStatus
from convex_evals.scores.rows import AttemptRow, ExtraTrialRow, ModelRow, PlannedEvalRow, RunRow

SHORTEST_PREFIX: Final = 4
_NAMED_RUNS: Final = 5
_HINT: Final = "`convex-evals status` lists the runs"


def insert_run(session: Session, plan: RunPlan) -> str:
    run_id = plan.id
    prints = plan.fingerprints
    session.add(
        RunRow(
            id=run_id,
            model_id=_model_id(session, plan.model, plan.provider),
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
    begin_period(session, run_id)
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


def read_planned(session: Session, run_id: str) -> tuple[PlannedEval, ...]:
    rows = session.scalars(select(PlannedEvalRow).where(PlannedEvalRow.run_id == run_id))
    planned = (PlannedEval(row.eval, row.content_fingerprint, row.grader_fingerprint) for row in rows)
    # Sorted here, because every server has its own idea of the order of names.
    return tuple(sorted(planned, key=lambda each: each.eval))


def close_run(session: Session, run_id: str, status: RunStatus, reason: str | None) -> None:
    row = locked_run(session, run_id)
    interrupt_open_attempts(session, run_id)
    row.status, row.reason, row.finished_at = status, reason, datetime.now(UTC)
    end_period(session, run_id, row.finished_at)


def reopen_run(session: Session, run_id: str) -> None:
    row = locked_run(session, run_id)
    end_period(session, run_id, last_sign_of_work(session, run_id))
    interrupt_open_attempts(session, run_id)
    row.status, row.reason, row.finished_at = "running", None, None
    begin_period(session, run_id)


def insert_extra_trials(session: Session, run_id: str, trials: Iterable[tuple[str, int]]) -> None:
    locked_run(session, run_id)
    session.add_all(ExtraTrialRow(run_id=run_id, eval=eval, trial=trial) for eval, trial in trials)


def read_extra_trials(session: Session, run_id: str) -> tuple[tuple[str, int], ...]:
    rows = session.scalars(select(ExtraTrialRow).where(ExtraTrialRow.run_id == run_id))
    return tuple(sorted((row.eval, row.trial) for row in rows))


def locked_run(session: Session, run_id: str) -> RunRow:
    row = session.get(RunRow, run_id, with_for_update=True)
    if row is None:
        raise UsageError(f"There is no run {run_id!r} in these scores; {_HINT}.")
    return row


def _model_id(session: Session, name: str, provider: str) -> int:
    known = select(ModelRow.id).where(ModelRow.name == name, ModelRow.provider == provider)
    found = session.scalar(known)
    if found is None:
        insert_if_new(session, ModelRow, name=name, provider=provider, created_at=datetime.now(UTC))
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
    return query if chosen.since is None else query.where(RunRow.started_at >= chosen.since)


def _records(session: Session, query: Select[RunRow, str, str]) -> tuple[RunRecord, ...]:
    found, run_ids = session.execute(query).all(), query.with_only_columns(RunRow.id)
    results, worked = _results(session, run_ids), read_worked(session, run_ids)
    evals = _numbers(session, PlannedEvalRow, run_ids)
    extra = _numbers(session, ExtraTrialRow, run_ids)
    return tuple(
        _record(
            row,
            model,
            provider,
            Counts(**results[row.id], total=evals[row.id] * row.trials + extra[row.id]),
            evals[row.id],
            worked[row.id],
        )
        for row, model, provider in found
    )


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


def _record(row: RunRow, model: str, provider: str, counts: Counts, evals: int, worked: timedelta) -> RunRecord:
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
        counts=counts,
        evals=evals,
        worked=worked,
    )
