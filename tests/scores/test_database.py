"""Real trouble: full disks, locks, damage, servers that go away."""

import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from convex_evals.core.errors import ConvexEvalsError, InfrastructureError, UsageError
from convex_evals.scores import Outcome, ScoresStore, database, schema
from convex_evals.scores.database import find_location, readable_errors

EVAL = "000-a/000-b"
SMALL, LARGE = "size=14m", "size=64m"


@dataclass(frozen=True)
class SmallDisk:
    folder: Path

    def grow(self) -> None:
        subprocess.run(["mount", "-o", f"remount,{LARGE}", self.folder], check=True)


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    """Not below pytest's folders: every pytest that starts closes those to other users, and the server is one."""
    folder = Path(tempfile.mkdtemp(prefix="small-"))
    folder.chmod(0o755)
    mount = ["mount", "-t", "tmpfs", "-o", f"{SMALL},mode=0777", "tmpfs", folder]
    mounted = subprocess.run(mount, capture_output=True, text=True)
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"a small disk cannot be made here: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


@pytest.fixture
def crowded(server: Any, small_disk: SmallDisk) -> Iterator[str]:
    """A database with tables, on the small disk."""
    if server.name == "sqlite":
        where = str(small_disk.folder / "scores.db")
        ScoresStore.open(where).close()
        yield where
        return
    admin = server.url("postgres")
    space = small_disk.folder / "space"
    space.mkdir()
    owner = Path(server.folder).stat()
    os.chown(space, owner.st_uid, owner.st_gid)
    server.execute(admin, f"CREATE TABLESPACE small LOCATION '{space}'")
    yield server.make("crowded", "TEMPLATE template_scores TABLESPACE small")
    server.execute(admin, "DROP DATABASE crowded WITH (FORCE)")
    server.execute(admin, "DROP TABLESPACE small")


def fill(store: ScoresStore, scene_step: Callable[[bytes], Any], attempt_id: str) -> list[str]:
    """Records large steps until the disk is full; says which were recorded."""
    recorded = []
    for name in ("filesystem", "install", "deploy", "tsc", "eslint", "tests"):
        try:
            store.record_step(attempt_id, scene_step(os.urandom(4_000_000), name=name))  # type: ignore[call-arg]
        except InfrastructureError as error:
            assert str(error).startswith("The disk ")
            assert str(error).endswith(" is full; free some space and go on: what was recorded before is safe.")
            return recorded
        recorded.append(name)
    raise AssertionError("the disk was not full")


@pytest.mark.both_engines
def test_a_full_disk_loses_nothing_and_work_continues_when_there_is_space(
    scene: Any, server: Any, crowded: str, small_disk: SmallDisk
) -> None:
    with ScoresStore.open(crowded) as store:
        run_id = store.create_run(scene.plan())
        begun = store.begin_attempt(run_id, EVAL)
        store.record_generation(begun.id, scene.generation())
        before = fill(store, scene.step, begun.id)
        (details,) = store.details(run_id)
        assert [step.name for step in details.steps] == before
        assert all(len(store.read_bytes(log)) == 4_000_000 for log in details.logs.values())
        small_disk.grow()
        store.record_step(begun.id, scene.step(os.urandom(4_000_000), name="tests"))
        store.finish_attempt(begun.id, Outcome("passed"))
        assert store.find_run(run_id).counts.passed == 1
    if server.name == "sqlite":
        assert server.execute(crowded, "PRAGMA integrity_check") == [("ok",)]


def full(path: Path, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
        connection.exec_driver_sql("CREATE TABLE big (content)")
        connection.exec_driver_sql("INSERT INTO big VALUES (zeroblob(1000000))")


def locked(path: Path, engine: Engine) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with database.for_writing(engine).begin():
            pass
    finally:
        other.close()


def read_only(path: Path, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.exec_driver_sql("CREATE TABLE more (id)")


def damaged(path: Path, engine: Engine) -> None:
    content = bytearray(path.read_bytes())
    content[200:] = b"\x55" * (len(content) - 200)
    path.write_bytes(content)
    with engine.begin() as connection:
        connection.exec_driver_sql("SELECT * FROM runs")


def no_database(path: Path, engine: Engine) -> None:
    path.write_text("just some text, long enough to be looked at, and certainly not a database" * 100)
    with engine.begin() as connection:
        connection.exec_driver_sql("SELECT * FROM runs")


def no_folder(path: Path, engine: Engine) -> None:
    path.unlink()
    path.parent.rmdir()
    with engine.begin():
        pass


@pytest.mark.parametrize(
    ("trouble", "kind", "sentence"),
    [
        (full, InfrastructureError, "The disk with {} is full; free some space"),
        (locked, InfrastructureError, "{} was locked by another process for too long; try again"),
        (read_only, InfrastructureError, "{} may not be written to; change its permissions"),
        (damaged, InfrastructureError, "{} is damaged; restore it from a backup"),
        (no_database, UsageError, "{} is not a database; name another file"),
        (no_folder, InfrastructureError, "{} cannot be opened; check that its folder exists"),
    ],
)
def test_a_problem_with_a_file_is_one_sentence(
    trouble: Callable[[Path, Engine], None],
    kind: type[ConvexEvalsError],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    path = tmp_path / "folder" / "scores.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (id)")
    connection.close()
    location = find_location(path)
    engine = database.sqlite_engine(location)
    with pytest.raises(kind) as raised, readable_errors(location):
        trouble(path, engine)
    engine.dispose()
    assert str(raised.value).startswith(sentence.format(path))


def test_a_bug_is_not_disguised_as_a_problem_of_the_database(tmp_path: Path) -> None:
    location = find_location(tmp_path / "a.db")
    engine = database.sqlite_engine(location)
    with pytest.raises(DBAPIError), readable_errors(location), engine.begin() as connection:
        connection.execute(text("SELECT nonsense"))
    engine.dispose()


def test_a_lock_on_a_new_file_is_waited_for_and_then_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scores.db"
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.2)
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(InfrastructureError, match="was locked by another process for too long"):
        ScoresStore.open(path)
    other.close()
    ScoresStore.open(path).close()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda url: "postgresql://me:geheim@127.0.0.1:1/scores", "postgresql://me:***@127.0.0.1:1/scores cannot be"),
        (lambda url: url.replace("/postgres?", "/nowhere?"), "postgresql://owner@/nowhere"),
    ],
)
def test_a_server_that_does_not_answer_is_one_sentence(
    postgresql: Any, change: Callable[[str], str], sentence: str
) -> None:
    with pytest.raises(InfrastructureError) as raised:
        ScoresStore.open(change(postgresql.url("postgres")))
    text = str(raised.value)
    assert text.startswith(sentence) and "cannot be reached: " in text and text.endswith("; try again later.")
    assert "\n" not in text and "geheim" not in text


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_store_survives_cut_connections(scene: Any, server: Any) -> None:
    run_id = scene.run()
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'convex-evals'"
    server.execute(server.url("postgres"), cut)
    scene.attempt(run_id)
    assert scene.store.find_run(run_id).counts.passed == 1


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_connection_cut_in_the_middle_of_a_transaction_is_one_sentence(scene: Any, server: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'convex-evals'"

    class Cutting:
        def __getattr__(self, name: str) -> Any:
            if name == "excerpt":  # read between two statements of the transaction
                server.execute(server.url("postgres"), cut)
            return getattr(step, name)

    step = scene.step(b"log")
    with pytest.raises(InfrastructureError, match=r"cannot be reached: .*; try again later.$"):
        scene.store.record_step(begun.id, Cutting())
    scene.store.record_step(begun.id, scene.step(b"log"))
    assert len(scene.store.details(run_id)[0].steps) == 1


SECRET = "geheim"


@pytest.mark.parametrize(
    ("given", "path", "shown"),
    [
        (None, "scores/scores.db", "scores/scores.db"),
        ("a.db", "a.db", "a.db"),
        (Path("/x/a?b#c%.db"), "/x/a?b#c%.db", "/x/a?b#c%.db"),
        ("sqlite:///a.db", "a.db", "a.db"),
        ("sqlite+pysqlite:////x/a.db", "/x/a.db", "/x/a.db"),
    ],
)
def test_files(
    given: str | Path | None, path: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = find_location(given)
    assert (found.path, found.shown) == (tmp_path / path, shown)
    assert found.url.database == str(tmp_path / path)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_servers_are_shown_without_their_password(scheme: str) -> None:
    found = find_location(f"{scheme}://me:{SECRET}@db.example.com:5433/scores")
    assert found.path is None and found.url.drivername == "postgresql+psycopg" and found.url.password == SECRET
    assert found.shown == f"{scheme}://me:***@db.example.com:5433/scores"
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (f"mysql://me:{SECRET}@host/scores", "found a URL that begins with 'mysql://'."),
        (f"postgresql://me:{SECRET}@host:port/scores", "found a URL that cannot be read."),
        ("sqlite://", "found 'sqlite://', which names no file."),
        ("sqlite:///:memory:", "found 'sqlite:///:memory:', which names no file."),
        ("sqlite:///file:a.db?uri=true", "which names no file."),
        (".", "found the folder '.'."),
    ],
)
def test_anything_else_is_one_sentence(given: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_location(given)
    text = str(raised.value)
    assert text.startswith("Expected a file such as scores.db or a URL such as postgresql://user@host/scores, found ")
    assert text.endswith(sentence) and SECRET not in text
