"""Steps of grading, each recorded when it ends."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from convex_evals.core.verdicts import STEPS
from convex_evals.scores.artifacts import put_file
from convex_evals.scores.attempts import open_attempt
from convex_evals.scores.evidence import GradedStep, StepCommand
from convex_evals.scores.records import CommandRecord, StepRecord
from convex_evals.scores.rows import AttemptRow, StepRow


def insert_step(session: Session, attempt_id: str, step: GradedStep) -> None:
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


def read_steps(session: Session, run_id: str, eval: str | None = None) -> dict[str, tuple[StepRecord, ...]]:
    """By attempt, in the order of the pipeline."""
    query = select(StepRow).join(AttemptRow, AttemptRow.id == StepRow.attempt_id).where(AttemptRow.run_id == run_id)
    found: defaultdict[str, list[StepRecord]] = defaultdict(list)
    for row in session.scalars(query if eval is None else query.where(AttemptRow.eval == eval)):
        found[row.attempt_id].append(_record(row))
    return {attempt: tuple(sorted(steps, key=lambda each: STEPS.index(each.name))) for attempt, steps in found.items()}


def _command_json(command: StepCommand) -> dict[str, Any]:
    return {
        "arguments": list(command.arguments),
        "ending": command.ending,
        "wallMs": command.wall_ms,
        "cpuMs": command.cpu_ms,
    }


def _record(row: StepRow) -> StepRecord:
    return StepRecord(
        attempt_id=row.attempt_id,
        name=row.name,
        status=row.status,
        duration_ms=row.duration_ms,
        cpu_ms=row.cpu_ms,
        commands=tuple(_command(each) for each in row.commands),
        excerpt=row.excerpt,
        log=row.log,
        failure=row.failure,
        notes=tuple(row.notes),
        recorded_at=row.recorded_at,
    )


def _command(json: dict[str, Any]) -> CommandRecord:
    return CommandRecord(tuple(json["arguments"]), json["ending"], json["wallMs"], json["cpuMs"])
