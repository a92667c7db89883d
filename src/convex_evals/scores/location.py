"""Where the scores are: a SQLite file or a PostgreSQL database."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from convex_evals.core.errors import UsageError

DEFAULT: Final = Path("scores") / "scores.db"
_POSTGRESQL: Final = ("postgresql", "postgres", "postgresql+psycopg")
_SQLITE: Final = ("sqlite", "sqlite+pysqlite")
_EXPECTED: Final = "Expected a file such as scores.db or a URL such as postgresql://user@host/scores"


@dataclass(frozen=True, slots=True)
class Location:
    """`shown` is for people; the URL may hold a password and never leaves this part."""

    url: URL = field(repr=False)
    path: Path | None
    shown: str


def find_location(given: str | Path | None = None) -> Location:
    """Reads a path or a URL; without one the scores are in ./scores/scores.db. Raises UsageError."""
    if given is None:
        return _file(DEFAULT)
    if isinstance(given, Path) or "://" not in given:
        return _file(Path(given))
    try:
        url = make_url(given)
    except (ArgumentError, ValueError) as error:
        # The text may hold a password, so it is not quoted.
        raise UsageError(f"{_EXPECTED}, found a URL that cannot be read.") from error
    return _from_url(url, given)


def _from_url(url: URL, given: str) -> Location:
    if url.drivername in _POSTGRESQL:
        return Location(url.set(drivername="postgresql+psycopg"), None, url.render_as_string(hide_password=True))
    if url.drivername not in _SQLITE:
        raise UsageError(f"{_EXPECTED}, found a URL that begins with '{url.drivername}://'.")
    if url.query or not url.database or url.database == ":memory:":
        raise UsageError(f"{_EXPECTED}, found '{given}', which names no file.")
    return _file(Path(url.database))


def _file(path: Path) -> Location:
    absolute = path.absolute()
    if absolute.is_dir():
        raise UsageError(f"{_EXPECTED}, found the folder '{path}'.")
    return Location(URL.create("sqlite", database=str(absolute)), absolute, str(path))
