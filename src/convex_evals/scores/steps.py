"""Steps of grading, each recorded when it ends, with everything that it found; and who else fails like this."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import and_, case, distinct, exists, func, insert, inspect, not_, or_, select
from sqlalchemy.orm import Session, aliased

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.steps import Command, StepResult
from convex_evals.core.verdicts import STEPS, StepName
from convex_evals.scores.artifacts import put_file
from convex_evals.scores.attempts import Attempts, open_attempt
from convex_evals.scores.records import FailuresAlike, RecordedSteps
from convex_evals.scores.rows import AttemptRow, DiagnosticRow, Row, RunRow, StepRow, TestResultRow

AnyRow = TypeVar("AnyRow", StepRow, DiagnosticRow, TestResultRow)
Value = TypeVar("Value", Diagnostic, TestResult)


def insert_step(session: Session, attempt_id: str, step: StepResult) -> None:
    open_attempt(session, attempt_id)
    if session.get(StepRow, (attempt_id, step.name)) is not None:
        raise ValueError(f"step {step.name} of attempt {attempt_id} is recorded already; it never changes")
    session.add(
        StepRow(
            attempt_id=attempt_id,
            name=step.name,
            status=step.status,
            failure=step.failure,
            duration_ms=step.duration_ms,
            cpu_ms=step.cpu_ms,
            commands=[_command_json(command) for command in step.commands],
            excerpt=step.excerpt,
            log=None if step.log is None else put_file(session, step.log),
            notes=list(step.notes),
            recorded_at=datetime.now(UTC),
        )
    )
    session.flush()
    _insert_all(session, DiagnosticRow, attempt_id, step.diagnostics)
    _insert_all(session, TestResultRow, attempt_id, step.test_results)


def read_steps(session: Session, which: Attempts) -> dict[str, RecordedSteps]:
    """By attempt, in the order of the pipeline."""
    diagnostics: defaultdict[tuple[str, StepName], list[Diagnostic]] = defaultdict(list)
    for found in _rows(session, DiagnosticRow, which):
        diagnostics[found.attempt_id, found.step].append(_value(Diagnostic, found))
    tests: defaultdict[str, list[TestResult]] = defaultdict(list)
    for test in _rows(session, TestResultRow, which):
        tests[test.attempt_id].append(_value(TestResult, test))
    steps: defaultdict[str, list[StepResult]] = defaultdict(list)
    logs: defaultdict[str, dict[StepName, str]] = defaultdict(dict)
    for row in _rows(session, StepRow, which):
        named = tests[row.attempt_id] if row.name == "tests" else ()
        steps[row.attempt_id].append(_step(row, tuple(diagnostics[row.attempt_id, row.name]), tuple(named)))
        if row.log is not None:
            logs[row.attempt_id][row.name] = row.log
    return {attempt: RecordedSteps(_in_order(found), logs[attempt]) for attempt, found in steps.items()}


def _insert_all(session: Session, row: type[Row], attempt_id: str, values: Sequence[Diagnostic | TestResult]) -> None:
    rows = [{"attempt_id": attempt_id, "position": position, **asdict(value)} for position, value in enumerate(values)]
    if rows:
        session.execute(insert(row), rows)


def _rows(session: Session, row: type[AnyRow], which: Attempts) -> Iterator[AnyRow]:
    query = select(row).join(AttemptRow, AttemptRow.id == row.attempt_id).where(*which.conditions())
    yield from session.scalars(query.order_by(*inspect(row).primary_key))


def _value(kind: type[Value], row: DiagnosticRow | TestResultRow) -> Value:
    return kind(**{field.name: getattr(row, field.name) for field in fields(kind)})


def diagnostic_of(row: DiagnosticRow) -> Diagnostic:
    return _value(Diagnostic, row)


def _in_order(steps: list[StepResult]) -> tuple[StepResult, ...]:
    return tuple(sorted(steps, key=lambda each: STEPS.index(each.name)))


def _step(row: StepRow, diagnostics: tuple[Diagnostic, ...], tests: tuple[TestResult, ...]) -> StepResult:
    return StepResult(
        name=row.name,
        status=row.status,
        duration_ms=row.duration_ms,
        cpu_ms=row.cpu_ms,
        commands=tuple(_command(each) for each in row.commands),
        excerpt=row.excerpt,
        failure=row.failure,
        notes=tuple(row.notes),
        diagnostics=diagnostics,
        test_results=tests,
    )


def _command_json(command: Command) -> dict[str, Any]:
    return {
        "arguments": list(command.arguments),
        "ending": command.ending,
        "wallMs": command.wall_ms,
        "cpuMs": command.cpu_ms,
    }


def _command(json: dict[str, Any]) -> Command:
    return Command(tuple(json["arguments"]), json["ending"], json["wallMs"], json["cpuMs"])


def read_passed_unseen(session: Session, run_id: str) -> tuple[str, ...]:
    """Evals that passed although tests which look at pages could not run."""
    unseen = exists().where(TestResultRow.attempt_id == AttemptRow.id, TestResultRow.status == "unseen")
    passed = select(AttemptRow.eval).where(AttemptRow.run_id == run_id, AttemptRow.status == "passed")
    return tuple(session.scalars(passed.where(unseen).distinct().order_by(AttemptRow.eval)))


def count_failures_alike(session: Session, attempt_id: str) -> FailuresAlike:
    """One query. What a test is called means something within its eval only; other fingerprints count everywhere."""
    own, own_run, own_found = aliased(AttemptRow), aliased(RunRow), aliased(DiagnosticRow)
    alike = or_(not_(DiagnosticRow.fingerprint.startswith("test:")), AttemptRow.eval == own.eval)
    failed = and_(StepRow.attempt_id == DiagnosticRow.attempt_id, StepRow.name == DiagnosticRow.step)
    query = (
        select(
            func.count(distinct(AttemptRow.run_id)),
            func.count(distinct(case((RunRow.model_id != own_run.model_id, RunRow.model_id)))),
        )
        .select_from(own)
        .join(own_run, own_run.id == own.run_id)
        .join(own_found, and_(own_found.attempt_id == own.id, own_found.step == own.failed_step))
        .join(DiagnosticRow, DiagnosticRow.fingerprint == own_found.fingerprint)
        .join(StepRow, and_(failed, StepRow.status == "failed"))
        .join(AttemptRow, and_(AttemptRow.id == DiagnosticRow.attempt_id, AttemptRow.status == "failed", alike))
        .join(RunRow, RunRow.id == AttemptRow.run_id)
        .where(own.id == attempt_id, AttemptRow.run_id != own.run_id)
    )
    runs, models = session.execute(query).one()
    return FailuresAlike(runs, models)
