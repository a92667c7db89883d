"""Steps of grading, each recorded when it ends, with everything that it found."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import insert, inspect, select
from sqlalchemy.orm import Session

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.steps import Command, StepResult
from convex_evals.core.verdicts import STEPS, StepName
from convex_evals.scores.artifacts import put_file
from convex_evals.scores.attempts import open_attempt
from convex_evals.scores.records import RecordedSteps
from convex_evals.scores.rows import AttemptRow, DiagnosticRow, Row, StepRow, TestResultRow

AnyRow = TypeVar("AnyRow", StepRow, DiagnosticRow, TestResultRow)


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


def read_steps(session: Session, run_id: str, eval: str | None = None) -> dict[str, RecordedSteps]:
    """By attempt, in the order of the pipeline."""
    diagnostics: defaultdict[tuple[str, StepName], list[Diagnostic]] = defaultdict(list)
    for found in _rows(session, DiagnosticRow, run_id, eval):
        diagnostics[found.attempt_id, found.step].append(_value(Diagnostic, found))
    tests: defaultdict[str, list[TestResult]] = defaultdict(list)
    for test in _rows(session, TestResultRow, run_id, eval):
        tests[test.attempt_id].append(_value(TestResult, test))
    steps: defaultdict[str, list[StepResult]] = defaultdict(list)
    logs: defaultdict[str, dict[StepName, str]] = defaultdict(dict)
    for row in _rows(session, StepRow, run_id, eval):
        named = tests[row.attempt_id] if row.name == "tests" else ()
        steps[row.attempt_id].append(_step(row, tuple(diagnostics[row.attempt_id, row.name]), tuple(named)))
        if row.log is not None:
            logs[row.attempt_id][row.name] = row.log
    return {attempt: RecordedSteps(_in_order(found), logs[attempt]) for attempt, found in steps.items()}


def _insert_all(session: Session, row: type[Row], attempt_id: str, values: Sequence[Diagnostic | TestResult]) -> None:
    rows = [{"attempt_id": attempt_id, "position": position, **asdict(value)} for position, value in enumerate(values)]
    if rows:
        session.execute(insert(row), rows)


def _rows(session: Session, row: type[AnyRow], run_id: str, eval: str | None) -> Iterator[AnyRow]:
    query = select(row).join(AttemptRow, AttemptRow.id == row.attempt_id).where(AttemptRow.run_id == run_id)
    if eval is not None:
        query = query.where(AttemptRow.eval == eval)
    yield from session.scalars(query.order_by(*inspect(row).primary_key))


Value = TypeVar("Value", Diagnostic, TestResult)


def _value(kind: type[Value], row: DiagnosticRow | TestResultRow) -> Value:
    return kind(**{field.name: getattr(row, field.name) for field in fields(kind)})


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
