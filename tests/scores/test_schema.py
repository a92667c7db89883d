import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from tests.examples import examples
from tests.scores.old_database import until

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.scores import ScoresStore, database_status, migrate_data, upgrade_database
from convex_evals.scores.database import find_location
from convex_evals.scores.rows import Row
from convex_evals.scores.schema import MIGRATIONS, REVISIONS, VERSION_TABLE, Revisions, upgrade_schema

NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    rebuilt = "always" if op.get_context().dialect.name == "sqlite" else "auto"
    with op.batch_alter_table("runs", recreate=rebuilt) as runs:
        runs.add_column(sa.Column("later", sa.Text()))
    {more}
"""


@pytest.fixture
def future(tmp_path: Path) -> Revisions:
    """The history of the tables with one more revision, as a later version will have it."""
    return later(tmp_path / "future")


def later(folder: Path, more: str = "") -> Revisions:
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "v9999_later.py").write_text(NEXT.format(head=REVISIONS.head, more=more))
    return Revisions(folder)


def differences(where: str) -> list[Any]:
    engine = create_engine(find_location(where).url)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
        )
        found = compare_metadata(context, Row.metadata)
    engine.dispose()
    return list(found)


def test_the_files_are_one_history_as_alembic_sees_it() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [REVISIONS.head]
    assert tuple(reversed([each.revision for each in script.walk_revisions()])) == REVISIONS.known


@pytest.mark.parametrize(
    "revision",
    [
        *(pytest.param(oldest, marks=pytest.mark.both_engines) for oldest in (None, REVISIONS.known[0])),
        *examples(REVISIONS.known[1:], ["0006"]),
    ],
)
def test_every_earlier_version_is_brought_to_the_tables_the_code_uses(
    server: Any, tmp_path: Path, revision: str | None
) -> None:
    where = server.empty()
    if revision is not None:
        upgrade_schema(find_location(where), until(tmp_path / "until", revision))
    with ScoresStore.open(where) as store:
        assert store.runs() == ()
    assert differences(where) == []


@pytest.mark.both_engines
def test_an_older_database_is_upgraded_with_everything_in_it(
    scene: Any, server: Any, where: str, future: Revisions, tmp_path: Path
) -> None:
    run_id = scene.run()
    scene.attempt(run_id)
    before = scene.store.export_run(run_id)
    scene.store.close()
    assert database_status(where, future).condition == "older"
    with ScoresStore.open(where, future) as upgraded:
        assert upgraded.upgraded is not None and upgraded.upgraded.changed
        assert (upgraded.upgraded.before, upgraded.upgraded.after) == (REVISIONS.head, "9999")
        assert upgraded.export_run(run_id) == before
        backup = upgraded.upgraded.backup
    assert server.execute(where, "SELECT later FROM runs") == [(None,)]
    with ScoresStore.open(where, future) as again:
        assert again.upgraded is None
    if server.name == "sqlite":
        assert backup is not None and backup.parent == Path(where).parent
        with ScoresStore.open(backup) as kept:
            assert kept.export_run(run_id) == before
    else:
        assert backup is None


def test_runs_of_before_have_worked_as_long_as_their_attempts_say(server: Any, tmp_path: Path) -> None:
    where = server.empty()
    upgrade_schema(find_location(where), until(tmp_path / "until", "0003"))
    day = "2026-01-01 "
    for statement in (
        "INSERT INTO models (id, name, provider, created_at) VALUES (1, 'm', 'p', '2026-01-01 00:00:00')",
        "INSERT INTO runs (id, model_id, experiment, trials, options, labels, status, started_at, finished_at) VALUES "
        f"('r', 1, 'default', 4, '{{}}', '[]', 'completed', '{day}08:00:00', '{day}20:00:09')",
        "INSERT INTO planned_evals (run_id, eval) VALUES ('r', 'a/b')",
        *(
            "INSERT INTO attempts (id, run_id, eval, trial, number, status, notes, started_at, finished_at) VALUES "
            f"('{trial}', 'r', 'a/b', {trial}, 1, '{status}', '[]', '{day}{start}', '{day}{end}')"
            for trial, status, start, end in (
                (1, "passed", "08:00:00", "08:01:00"),
                (2, "failed", "08:00:30", "08:02:00"),
                (3, "interrupted", "08:02:30", "20:00:00"),  # killed; it was resumed in the evening
                (4, "passed", "20:00:00", "20:00:09"),
            )
        ),
    ):
        server.execute(where, statement)
    migrate_data(where)
    with ScoresStore.open(where) as store:
        assert store.runs()[0].worked == timedelta(minutes=2, seconds=30 + 9)
    assert differences(where) == []


def test_a_newer_database_is_refused(server: Any, future: Revisions) -> None:
    where = server.empty()
    upgrade_schema(find_location(where), future)
    assert database_status(where).condition == "newer"
    for opening in (lambda: ScoresStore.open(where), lambda: upgrade_schema(find_location(where))):
        with pytest.raises(UsageError) as raised:
            opening()
        assert str(raised.value) == (
            f"{find_location(where).shown} was written by a newer convex-evals (its tables have version 9999, "
            f"this one knows {REVISIONS.head}); update convex-evals, or name another database."
        )


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param("raise RuntimeError('power cut')", marks=pytest.mark.both_engines),
        "op.execute('SELECT nonsense')",
    ],
)
def test_an_upgrade_that_fails_changes_nothing(scene: Any, where: str, tmp_path: Path, trouble: str) -> None:
    run_id = scene.run()
    before = scene.store.export_run(run_id)
    with pytest.raises(Exception, match=r"power cut|nonsense"):
        ScoresStore.open(where, later(tmp_path / "broken", trouble))
    assert database_status(where).condition == "current"
    assert scene.store.export_run(run_id) == before
    assert differences(where) == []


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_an_upgrade_that_breaks_references_changes_nothing(scene: Any, where: str, tmp_path: Path) -> None:
    run_id = scene.run()
    scene.attempt(run_id)
    broken = later(tmp_path / "broken", "op.execute('DROP TABLE planned_evals')")
    with pytest.raises(InfrastructureError, match="would have left table attempts damaged, so nothing was changed"):
        ScoresStore.open(where, broken)
    assert scene.store.find_run(run_id).counts.passed == 1


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_file_of_something_else_is_left_alone(server: Any) -> None:
    where = server.empty()
    server.execute(where, "CREATE TABLE documents (id)")
    with pytest.raises(UsageError, match="holds the tables of something else; name another database"):
        ScoresStore.open(where)
    assert server.execute(where, "SELECT name FROM sqlite_master") == [("documents",)]


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_server_database_may_hold_other_tables_unless_they_are_in_the_way(server: Any) -> None:
    where = server.empty()
    server.execute(where, "CREATE TABLE documents (id int)")
    ScoresStore.open(where).close()
    occupied = server.empty()
    server.execute(occupied, "CREATE TABLE runs (id int)")
    with pytest.raises(UsageError, match="holds the tables of something else"):
        ScoresStore.open(occupied)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_file_is_set_up_for_readers_during_a_write(where: str, store: ScoresStore) -> None:
    connection = sqlite3.connect(where)
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    connection.close()


@pytest.mark.both_engines
def test_status_says_what_is_in_a_database(scene: Any, where: str) -> None:
    scene.attempt(scene.run())
    begun = scene.store.begin_attempt(scene.run(), "000-a/000-b")
    scene.store.record_generation(begun.id, scene.generation())
    found = database_status(where)
    assert (found.condition, found.revision, found.head) == ("current", REVISIONS.head, REVISIONS.head)
    assert (found.runs, found.attempts, found.artifacts) == (2, 2, 3)
    assert found.size is not None and found.size > 50_000


@pytest.mark.both_engines
def test_status_of_an_empty_database_changes_nothing(server: Any) -> None:
    where = server.empty()
    expected = "missing" if server.name == "sqlite" else "empty"
    for _ in range(2):
        found = database_status(where)
        assert (found.condition, found.revision, found.runs) == (expected, None, 0)
    assert server.name != "sqlite" or not Path(where).exists()


def test_upgrade_creates_what_is_missing_and_then_does_nothing(server: Any) -> None:
    where = server.empty()
    first, second = upgrade_database(where), upgrade_database(where)
    assert first.changed and (first.before, first.after, first.backup) == (None, REVISIONS.head, None)
    assert not second.changed and second.before == REVISIONS.head
    assert database_status(where).condition == "current"


def test_without_a_name_the_scores_are_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ScoresStore.open() as store:
        assert store.location == "scores/scores.db"
        monkeypatch.chdir("/")
        assert store.runs() == ()
    assert (tmp_path / "scores" / "scores.db").is_file()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match=r"cannot be made \(Not a directory\); name another place"):
        ScoresStore.open(tmp_path / "file" / "scores" / "scores.db")
