"""Which deployment a database is: production, development, or `local` as long as nobody has marked it."""

from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from convex_evals.core.errors import UsageError
from convex_evals.scores.database import Database, insert_if_new
from convex_evals.scores.grants import UNMARKED
from convex_evals.scores.rows import DeploymentRow


class Deployment:
    def __init__(self, database: Database) -> None:
        self._database = database

    def name(self) -> str:
        with self._database.reading() as session:
            return read_deployment(session)

    def mark(self, name: str) -> None:
        """Once and for all: scores of one deployment never become those of another. Raises UsageError."""
        with self._database.writing() as session:
            insert_if_new(session, DeploymentRow, id=1, name=name, marked_at=datetime.now(UTC))
            marked = read_deployment(session)
        if marked != name:
            raise UsageError(f"These scores are marked {marked!r} and cannot become {name!r}; name another database.")


def read_deployment(session: Session) -> str:
    return session.scalar(select(DeploymentRow.name)) or UNMARKED
