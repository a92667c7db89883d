"""Generations: what a model was asked, what came back, and what it took."""

from dataclasses import asdict, fields
from datetime import UTC, datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from convex_evals.core.errors import UsageError
from convex_evals.scores.artifacts import files_bytes, put_all, text_bytes
from convex_evals.scores.attempts import Attempts, open_attempt
from convex_evals.scores.records import Generation, GenerationRecord, Usage
from convex_evals.scores.rows import AttemptRow, GenerationRow, UsageRow


def insert_generation(session: Session, attempt_id: str, generation: Generation) -> None:
    _check_first(session, attempt_id)
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
    if generation.usage is not None:
        session.add(UsageRow(attempt_id=attempt_id, **asdict(generation.usage)))


def insert_reused_generation(session: Session, attempt_id: str, source_id: str) -> None:
    """The same generation, graded by another attempt. Nothing was asked, so there is no usage."""
    _check_first(session, attempt_id)
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
    return {row.attempt_id: _record(row, usage) for row, usage in session.execute(query.where(*which.conditions()))}


def _check_first(session: Session, attempt_id: str) -> None:
    open_attempt(session, attempt_id)
    if session.get(GenerationRow, attempt_id) is not None:
        raise ValueError(f"attempt {attempt_id} has a generation already; what is recorded never changes")


def _with_usage() -> Select[GenerationRow, UsageRow | None]:
    asked_by = func.coalesce(GenerationRow.reused_from, GenerationRow.attempt_id)
    return select(GenerationRow, UsageRow).outerjoin(UsageRow, UsageRow.attempt_id == asked_by)


def _record(row: GenerationRow, usage: UsageRow | None) -> GenerationRecord:
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
