"""Tokens, and sessions of users who logged in with one. Only hashes are kept; revoking a token takes effect at once."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import delete, insert, select, update

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import ALPHABET, new_id
from convex_evals.scores.database import Database, insert_if_new, read_deployment
from convex_evals.scores.grants import TOKEN_MARK, Grant, NewToken, Right, TokenRecord
from convex_evals.scores.rows import SessionRow, TokenRow

_SECRET_BYTES: Final = 32
_FORM: Final = re.compile(rf"{TOKEN_MARK}([{ALPHABET}]{{32}})_[\w-]{{43}}", re.ASCII)
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE | re.ASCII)
_NOBODY: Final = "0" * 64


class Tokens:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self, name: str, rights: Sequence[Right], deployment: str | None = None, lifetime: timedelta | None = None
    ) -> NewToken:
        """The only time that the token can be seen. Without a deployment it is for that of this database."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"A token's name has up to 64 letters, digits, '.', '_' or '-', not {name!r}.")
        row_id, now = new_id(), datetime.now(UTC)
        token = f"{TOKEN_MARK}{row_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        with self._database.writing() as session:
            record = TokenRecord(
                name,
                tuple(rights),
                deployment or read_deployment(session),
                created_at=now,
                expires_at=None if lifetime is None else now + lifetime,
                used_at=None,
                revoked_at=None,
            )
            if not insert_if_new(session, TokenRow, **_values(record), id=row_id, sha256=_hash(token)):
                raise UsageError(f"There is a token {name!r} already; choose another name.")
        return NewToken(record, token)

    def verify(self, token: str) -> Grant | None:
        """What the token allows now; None when it is unknown, expired or revoked, which takes equally long."""
        found, now = _FORM.fullmatch(token), datetime.now(UTC)
        with self._database.reading() as session:
            row = session.get(TokenRow, found[1]) if found else None
            same = hmac.compare_digest(_hash(token), row.sha256 if row else _NOBODY)
            grant = grant_of(row, now) if row is not None and same else None
            if row is None or grant is None:
                return None
            known = _record(row)
        self._note_use(known, now)
        return grant

    def list(self) -> tuple[TokenRecord, ...]:
        """Every token there ever was, the newest first."""
        with self._database.reading() as session:
            rows = session.scalars(select(TokenRow).order_by(TokenRow.created_at.desc(), TokenRow.name))
            return tuple(_record(row) for row in rows)

    def revoke(self, name: str) -> TokenRecord:
        with self._database.writing() as session:
            row = session.scalar(select(TokenRow).where(TokenRow.name == name).with_for_update())
            if row is None:
                raise UsageError(f"There is no token {name!r}; `convex-evals token list` shows them.")
            row.revoked_at = row.revoked_at or datetime.now(UTC)
            return _record(row)

    def _note_use(self, known: TokenRecord, now: datetime) -> None:
        """To the hour: enough to find tokens that nobody uses, and too little to follow anyone."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        if known.used_at != hour:
            with self._database.writing() as session:
                session.execute(update(TokenRow).where(TokenRow.name == known.name).values(used_at=hour))


def grant_of(row: TokenRow, now: datetime) -> Grant | None:
    """None when the token is expired or revoked."""
    if row.revoked_at is not None or (row.expires_at is not None and now >= row.expires_at):
        return None
    return Grant(row.name, tuple(row.rights), row.deployment, row.expires_at)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _values(record: TokenRecord) -> dict[str, object]:
    return {
        "name": record.name,
        "rights": list(record.rights),
        "deployment": record.deployment,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
    }


def _record(row: TokenRow) -> TokenRecord:
    return TokenRecord(
        row.name,
        tuple(row.rights),
        row.deployment,
        row.created_at,
        row.expires_at,
        row.used_at,
        row.revoked_at,
    )


SESSION_LIFETIME: Final = timedelta(days=14)


class Sessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, grant: Grant) -> str:
        """The secret of a new session; only its hash is kept. Sessions that are over are forgotten."""
        secret, now = secrets.token_urlsafe(_SECRET_BYTES), datetime.now(UTC)
        with self._database.writing() as session:
            session.execute(delete(SessionRow).where(SessionRow.expires_at < now))
            token_id = select(TokenRow.id).where(TokenRow.name == grant.name).scalar_subquery()
            values = {
                "sha256": _hash(secret),
                "token_id": token_id,
                "created_at": now,
                "expires_at": now + SESSION_LIFETIME,
            }
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
