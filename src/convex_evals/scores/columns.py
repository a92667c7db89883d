"""Column types that mean the same on SQLite and PostgreSQL."""

from datetime import UTC, datetime
from typing import Final

from sqlalchemy import DateTime, Dialect, String, Text, TypeDecorator

ID: Final = String(32)
SHA256: Final = String(64)


class Moment(TypeDecorator[datetime]):
    """A point in time, in UTC. SQLite keeps no time zone, so it is taken off and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ShownText(TypeDecorator[str]):
    """Text to look at. What no database takes as text is made visible; artifacts keep what it really was."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return value.replace("\0", "␀").encode(errors="replace").decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return value
