"""Sessions of people who logged in with a token: a secret of their own, good as long as the token is."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import delete, insert, select

from convex_evals.scores.database import Database
from convex_evals.scores.grants import Grant
from convex_evals.scores.rows import SessionRow, TokenRow
from convex_evals.scores.tokens import grant_of

LIFETIME: Final = timedelta(days=14)
_SECRET_BYTES: Final = 32


class Sessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, grant: Grant) -> str:
        """The secret of a new session; only its hash is kept. Sessions that are over are forgotten."""
        secret, now = secrets.token_urlsafe(_SECRET_BYTES), datetime.now(UTC)
        with self._database.writing() as session:
            session.execute(delete(SessionRow).where(SessionRow.expires_at < now))
            token_id = select(TokenRow.id).where(TokenRow.name == grant.name).scalar_subquery()
            values = {"sha256": _hash(secret), "token_id": token_id, "created_at": now, "expires_at": now + LIFETIME}
            session.execute(insert(SessionRow).values(values))
        return secret

    def verify(self, secret: str) -> Grant | None:
        """What the token behind it allows now."""
        now = datetime.now(UTC)
        known = select(TokenRow).join(SessionRow, SessionRow.token_id == TokenRow.id)
        with self._database.reading() as session:
            row = session.scalar(known.where(SessionRow.sha256 == _hash(secret), SessionRow.expires_at > now))
            return grant_of(row, now) if row is not None else None

    def end(self, secret: str) -> None:
        with self._database.writing() as session:
            session.execute(delete(SessionRow).where(SessionRow.sha256 == _hash(secret)))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
