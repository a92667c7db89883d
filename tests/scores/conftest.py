"""Both engines for every test: a SQLite file, and a real PostgreSQL server that the tests start and stop."""

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest

from convex_evals.core.steps import Command, StepResult, TestCounts
from convex_evals.core.verdicts import Status
from convex_evals.scores import (
    Fingerprints,
    Generation,
    OpenAttempt,
    Outcome,
    PlannedEval,
    RunPlan,
    ScoresStore,
    Usage,
)
from convex_evals.scores.schema import upgrade_database

START_SECONDS = 120
ENGINES = ("sqlite", "postgresql")


COMMAND = Command(("tsc", "--noEmit"), "exit code 0", 812.5, 640.25)


class Server(Protocol):
    """Where databases come from. `empty` has no tables yet, `ready` has them."""

    name: str

    def empty(self) -> str: ...
    def ready(self) -> str: ...
    def execute(self, where: str, statement: str) -> list[Any]:
        """Any SQL, past everything the store would say about it."""


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

    def __init__(self, folder: Path) -> None:
        self.folder, self._numbers = folder, count()
        self._template = self.url("template_scores")
        self.make("template_scores")
        upgrade_database(self._template)

    def url(self, database: str) -> str:
        return f"postgresql://owner@/{database}?host={self.folder}"

    def make(self, database: str, how: str = "") -> str:
        self.execute(self.url("postgres"), f"CREATE DATABASE {database} {how}")
        return self.url(database)

    def empty(self) -> str:
        return self.make(f"scores_{next(self._numbers)}")

    def ready(self) -> str:
        return self.make(f"scores_{next(self._numbers)}", "TEMPLATE template_scores")

    def execute(self, where: str, statement: str) -> list[Any]:
        with psycopg.connect(where, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    program = _program()
    # A socket's path has at most 107 characters, so pytest's folders are too deep.
    folder = Path(tempfile.mkdtemp(prefix="scores-"))
    user = pwd.getpwnam(_user()) if os.geteuid() == 0 else None
    rights: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    if user:
        os.chown(folder, user.pw_uid, user.pw_gid)
    try:
        initdb = [program.with_name("initdb"), "-D", folder / "data", "-U", "owner", "--auth=trust", "-E", "UTF8", "-N"]
        subprocess.run([*initdb, "--locale=C.UTF-8"], cwd=folder, check=True, capture_output=True, **rights)
        settings = ("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=50")
        options = [part for setting in settings for part in ("-c", setting)]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [program, "-D", folder / "data", *options], cwd=folder, stdout=log, stderr=log, **rights
            )
        try:
            _wait_until_it_answers(server, folder)
            yield PostgreSQL(folder)
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing in it is needed any more
            server.wait()
    finally:
        shutil.rmtree(folder)


def _program() -> Path:
    found = shutil.which("postgres")
    places = [Path(found).resolve()] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if places:
        return places[-1]
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


def _user() -> str:
    """The server refuses to run as root."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _wait_until_it_answers(server: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(f"postgresql://owner@/postgres?host={folder}").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL did not start: {(folder / 'log').read_text()}")
        time.sleep(0.05)


@pytest.fixture(params=ENGINES)
def server(request: pytest.FixtureRequest) -> Server:
    made: Server = request.getfixturevalue("files" if request.param == "sqlite" else "postgresql")
    return made


@pytest.fixture
def where(server: Server) -> str:
    return server.ready()


@pytest.fixture
def store(where: str) -> Iterator[ScoresStore]:
    with ScoresStore.open(where) as opened:
        yield opened


@pytest.fixture
def execute(server: Server, where: str) -> Callable[[str], list[Any]]:
    """SQL on the database of `store`."""
    return lambda statement: server.execute(where, statement)


@dataclass
class Scene:
    """Short ways to say what happened in a run."""

    store: ScoresStore
    folder: Path
    numbers: Iterator[int] = field(default_factory=count)

    def plan(self, *evals: str, **changes: Any) -> RunPlan:
        planned = tuple(PlannedEval(name, f"content of {name}", None) for name in evals or ("000-a/000-b",))
        given: dict[str, Any] = {"model": "m1", "provider": "p1", "experiment": "default", "evals": planned}
        return RunPlan(**{**given, **changes})

    def run(self, *evals: str, **changes: Any) -> str:
        return self.store.create_run(self.plan(*evals, **changes))

    def step(self, log: bytes | None = None, **changes: Any) -> StepResult:
        given: dict[str, Any] = {
            "name": "tsc",
            "status": "passed",
            "duration_ms": 900.0,
            "cpu_ms": 700.0,
            "commands": (COMMAND,),
        }
        if log is not None:
            given["log"] = self.folder / f"{next(self.numbers)}.log"
            given["log"].write_bytes(log)
        return StepResult(**{**given, **changes})

    def generation(self, response: str = "an answer", **changes: Any) -> Generation:
        given: dict[str, Any] = {"prompt": "a task", "response": response, "files": {"convex/a.ts": "export {};\n"}}
        return Generation(**{**given, "usage": Usage(10, 5, 20, 7, cost_usd=0.25, cost_source="provider"), **changes})

    def attempt(self, run_id: str, eval: str = "000-a/000-b", trial: int = 1, status: Status = "passed") -> OpenAttempt:
        """One that is begun and finished."""
        begun = self.store.begin_attempt(run_id, eval, trial)
        self.store.finish_attempt(begun.id, Outcome(status, tests=TestCounts(1, 2), duration_ms=5.0, cpu_ms=4.0))
        return begun


@pytest.fixture
def scene(store: ScoresStore, tmp_path: Path) -> Scene:
    return Scene(store, tmp_path)


@pytest.fixture
def fingerprints() -> Fingerprints:
    return Fingerprints("s", "c", "g", "pi", "t", "pr")
