"""Where tests get databases from: SQLite files, and a real PostgreSQL server that the tests start and stop."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.postgresql import TemporaryServer, find_postgresql, temporary_postgresql
from convex_evals.scores.schema import upgrade_database


class Files:
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()
        self._template = folder / "template.db"
        upgrade_database(self._template)

    def empty(self) -> str:
        return str(self._folder / f"{next(self._numbers)}.db")

    def ready(self) -> str:
        return str(shutil.copy(self._template, self.empty()))

    def execute(self, where: str, statement: str) -> list[Any]:
        connection = sqlite3.connect(where, isolation_level=None)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            return connection.execute(statement).fetchall()
        finally:
            connection.close()


class PostgreSQL:
    name = "postgresql"

    def __init__(self, server: TemporaryServer) -> None:
        self._server, self._numbers = server, count()
        self.execute, self.make, self.url = server.execute, server.make, server.url
        upgrade_database(self.make("template_scores"))

    @property
    def folder(self) -> Path:
        return self._server.folder

    def empty(self) -> str:
        return self.make(f"scores_{next(self._numbers)}")

    def ready(self) -> str:
        return self.make(f"scores_{next(self._numbers)}", "TEMPLATE template_scores")


@contextmanager
def serve_postgresql() -> Iterator[PostgreSQL]:
    with temporary_postgresql(_program()) as server:
        yield PostgreSQL(server)


def _program() -> Path:
    found = find_postgresql()
    if found is not None:
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        pytest.skip(
            "PostgreSQL's server is not installed here, and only root on Debian can (apt-get install postgresql)"
        )
    _install()
    return _program()


def _install() -> None:
    options = ("-qq", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300")
    for command in (("update", "-qq"), ("install", *options, "postgresql")):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", *command], check=True, capture_output=True, timeout=600, env=environment)
