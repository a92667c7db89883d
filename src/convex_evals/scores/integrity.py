"""Whether scores are what was recorded: artifacts have the bytes of their hashes, and references lead somewhere."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Select, exists, func, literal, select, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.scores.artifacts import read_bytes
from convex_evals.scores.rows import ArtifactRow, AttemptRow, GenerationRow, Row, StepRow
from convex_evals.scores.schema import open_current

OnArtifact = Callable[[int, int], None]
"""Called with the number of artifacts that are checked, and of all artifacts."""


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """Where an artifact belongs. `part` is prompt, response, files, or the log of a step."""

    run_id: str
    eval: str
    part: str


@dataclass(frozen=True, slots=True)
class DamagedArtifact:
    sha256: str
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A row of `table`, known by `key`, refers to `named` in table `target`, where it is not."""

    table: str
    key: tuple[str, ...]
    target: str
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """`file` is what SQLite says about a file whose pages are damaged."""

    location: str
    artifacts: int
    references: int
    damaged: tuple[DamagedArtifact, ...]
    broken: tuple[BrokenReference, ...]
    file: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not (self.damaged or self.broken or self.file)


def check_database(where: str | Path | None, on_artifact: OnArtifact = lambda done, total: None) -> Inspection:
    """Reads everything, and changes nothing."""
    with open_current(where) as database, database.reading() as session:
        names = session.scalars(select(ArtifactRow.sha256).order_by(ArtifactRow.sha256)).all()
        damaged = []
        for done, sha256 in enumerate(names, 1):
            if not _is_sound(session, sha256):
                damaged.append(DamagedArtifact(sha256, _uses(session, sha256)))
            on_artifact(done, len(names))
        references = sum(session.scalar(_number(each)) or 0 for each in _constraints())
        broken = tuple(found for each in _constraints() for found in _broken(session, each))
        file = _file_damage(session)
        return Inspection(database.location.shown, len(names), references, tuple(damaged), broken, file)


def _is_sound(session: Session, sha256: str) -> bool:
    try:
        read_bytes(session, sha256)
    except ConvexEvalsError:
        return False
    except DatabaseError:
        if session.get_bind().dialect.name != "sqlite":  # a server that cannot read has more trouble than this
            raise
        return False
    return True


def _uses(session: Session, sha256: str) -> tuple[Use, ...]:
    found: set[Use] = set()
    for column in (GenerationRow.prompt, GenerationRow.response, GenerationRow.files):
        query = _of_attempts(literal(column.key)).join(GenerationRow, GenerationRow.attempt_id == AttemptRow.id)
        found.update(Use(*row) for row in session.execute(query.where(column == sha256)))
    logs = _of_attempts(StepRow.name).join(StepRow, StepRow.attempt_id == AttemptRow.id).where(StepRow.log == sha256)
    found.update(Use(run_id, eval, f"log of {step}") for run_id, eval, step in session.execute(logs))
    return tuple(sorted(found))


def _of_attempts(part: Any) -> Select[Any]:
    return select(AttemptRow.run_id, AttemptRow.eval, part).select_from(AttemptRow)


def _constraints() -> Iterator[ForeignKeyConstraint]:
    for table in Row.metadata.sorted_tables:
        yield from sorted(table.foreign_key_constraints, key=lambda each: str(each.name))


def _number(constraint: ForeignKeyConstraint) -> Select[Any]:
    return select(func.count()).select_from(constraint.table).where(*_given(constraint))


def _given(constraint: ForeignKeyConstraint) -> list[Any]:
    return [column.is_not(None) for column in constraint.columns]


def _broken(session: Session, constraint: ForeignKeyConstraint) -> Iterator[BrokenReference]:
    table, target = constraint.table, constraint.referred_table
    other = target.alias()
    same = [element.parent == other.c[element.column.name] for element in constraint.elements]
    key, named = tuple(table.primary_key.columns), tuple(constraint.columns)
    shown = select(*(column.label(None) for column in (*key, *named)))
    for row in session.execute(shown.where(*_given(constraint), ~exists().where(*same))):
        values = tuple(str(value) for value in row)
        yield BrokenReference(table.name, values[: len(key)], target.name, values[len(key) :])


def _file_damage(session: Session) -> tuple[str, ...]:
    if session.get_bind().dialect.name != "sqlite":
        return ()
    said = session.scalars(text("PRAGMA integrity_check")).all()
    return () if said == ["ok"] else tuple(said)
