"""A temporary PostgreSQL server for tests and benchmarks, on machines where `postgres` is installed."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.distribution import POSTGRES
from convex_evals.core.errors import InfrastructureError

START_SECONDS: Final = 120
MOST_CONNECTIONS: Final = 50
DEBIAN: Final = Path("/usr/lib/postgresql")
OWNER: Final = "owner"


@dataclass(frozen=True, slots=True)
class TemporaryServer:
    """Listens on a socket in its folder only. Nothing in it outlives it."""

    folder: Path
    process_id: int

    def url(self, database: str) -> str:
        return f"postgresql://{OWNER}@/{database}?host={self.folder}"

    def make(self, database: str, how: str = "") -> str:
        """A new database; returns its URL. `how` is the rest of CREATE DATABASE."""
        self.execute(self.url("postgres"), f"CREATE DATABASE {database} {how}")
        return self.url(database)

    def execute(self, where: str, statement: str) -> list[Any]:
        """Runs any SQL, without the checks of the store."""
        import psycopg

        with psycopg.connect(where, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def find_postgresql() -> Path | None:
    """The program `postgres`, on PATH or where Debian keeps it."""
    found = shutil.which("postgres")
    places = [Path(found).resolve()] if found else sorted(DEBIAN.glob("*/bin/postgres"))
    return places[-1] if places else None


@contextmanager
def temporary_postgresql(program: Path) -> Iterator[TemporaryServer]:
    """Raises InfrastructureError when it does not start."""
    POSTGRES.require()
    # A socket's path has at most 107 characters, so this must not be deep.
    folder = Path(tempfile.mkdtemp(prefix="scores-"))
    rights = _rights(folder)
    try:
        initdb: list[str | Path] = [program.with_name("initdb"), "-D", folder / "data", "-U", OWNER]
        how = ("--auth=trust", "--encoding=UTF8", "--no-sync", "--locale=C.UTF-8")
        subprocess.run([*initdb, *how], cwd=folder, check=True, capture_output=True, **rights)
        with _running(program, folder, rights) as server:
            yield TemporaryServer(folder, server.pid)
    finally:
        shutil.rmtree(folder)


def _rights(folder: Path) -> dict[str, Any]:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def _running(program: Path, folder: Path, rights: dict[str, Any]) -> Iterator["subprocess.Popen[bytes]"]:
    settings = (
        *("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off"),
        f"max_connections={MOST_CONNECTIONS}",
    )
    options = [part for setting in settings for part in ("-c", setting)]
    command: list[str | Path] = [program, "-D", folder / "data", *options]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **rights)
    try:
        _wait_until_it_answers(server, folder)
        yield server
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: nothing in it is needed any more
        server.wait()


def _wait_until_it_answers(server: "subprocess.Popen[bytes]", folder: Path) -> None:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(f"postgresql://{OWNER}@/postgres?host={folder}").close()
            return
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                said = (folder / "log").read_text(errors="replace")
                raise InfrastructureError(f"PostgreSQL did not start: {said}") from error
        time.sleep(0.05)
