from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.scores.conftest import Scene, Server
from tests.scores.old_database import write_old_database
from tests.scores.test_labels import EVAL, label

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.core.errors import UsageError
from convex_evals.scores import ScoresStore, back_up, database_status, restore
from convex_evals.scores.rows import Row
from convex_evals.scores.schema import open_current

FRESH = ("data_migrations",)
"""What a database has that nobody has used."""


@pytest.fixture
def full(scene: Scene) -> ScoresStore:
    """Something in nearly every table, text and bytes that are hard to copy among it."""
    store, run_id = scene.store, scene.run(options={"note": "naïve\0 “so” 🎉"})
    store.outbox.follow(run_id, "https://scores.example.com")
    begun = store.begin_attempt(run_id, EVAL)
    store.record_generation(begun.id, scene.generation("half a pair \ud800, and a NUL \0"))
    found = (Diagnostic("tests", "no", fingerprint="test:a"),)
    log = bytes(range(256)) * 10_000  # more than one chunk
    step = scene.step(log, name="tests", diagnostics=found, test_results=(TestResult("a", "failed", "no"),))
    store.record_step(begun.id, step)
    store.add_trials(run_id, [(EVAL, 2)])
    store.labels.add(label(run_id))
    store.finish_run(run_id, "stopped")
    store.reuse_generation(store.begin_attempt(scene.run(model="m2"), EVAL).id, begun.id)
    store.decisions.hide(run_id, "Ada", "why")
    deleted = scene.run()
    store.record_generation(store.begin_attempt(deleted, EVAL).id, scene.generation("gone"))
    store.decisions.delete(deleted, "Ada", "why")
    store.tokens.create("ci", ("record",))
    return store


def contents(where: str | Path) -> dict[str, list[Any]]:
    """Every row of every table, by table; what counts changes counts copying, too."""
    with open_current(where) as database, database.reading() as session:
        tables = {table.name: table for table in Row.metadata.sorted_tables if table.name != "change_counts"}
        return {
            name: [tuple(row) for row in session.execute(table.select().order_by(*table.primary_key))]
            for name, table in tables.items()
        }


def test_a_server_knows_how_many_rows_were_restored_so_that_it_plans_well(
    full: ScoresStore, where: str, postgresql: Any, tmp_path: Path
) -> None:
    target = postgresql.empty()
    back_up(where, tmp_path / "backup.db")
    restore(target, tmp_path / "backup.db")
    with open_current(target) as database, database.reading() as session:
        counted = text("SELECT reltuples FROM pg_class WHERE relname = 'attempts'")  # -1: nobody has counted them
        assert session.scalar(counted) == len(contents(target)["attempts"])


@pytest.mark.parametrize("into", [pytest.param("files", marks=pytest.mark.both_engines), "postgresql"])
def test_a_backup_of_either_engine_is_restored_into_either_row_by_row(
    full: ScoresStore, where: str, into: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    target, file = request.getfixturevalue(into).empty(), tmp_path / "new" / "backup.db"
    told: list[tuple[int, int]] = []
    rows = back_up(where, file, lambda done, total: told.append((done, total)))
    assert told[-1] == (rows, rows)
    assert restore(target, file) == rows
    before = contents(where)
    assert sum(map(len, before.values())) == rows
    assert contents(file) == before
    assert contents(target) == before
    assert [path.name for path in file.parent.iterdir()] == ["backup.db"]


def test_what_is_restored_is_worked_with(full: ScoresStore, where: str, server: Server, tmp_path: Path) -> None:
    back_up(where, tmp_path / "backup.db")
    target = server.ready()
    restore(target, tmp_path / "backup.db")
    with ScoresStore.open(target) as store:
        scene = Scene(store, tmp_path)
        scene.attempt(scene.run(model="a new one"))
        assert {run.model for run in store.runs()} == {"m2", "a new one"}
        run_id = store.find_run(full.runs()[0].id).id
        assert store.details(run_id) == full.details(run_id)


def test_nothing_is_restored_into_scores(full: ScoresStore, where: str, server: Server, tmp_path: Path) -> None:
    back_up(where, tmp_path / "backup.db")
    used = server.ready()
    with ScoresStore.open(used) as store:
        store.tokens.create("reader", ("read",))
    before = contents(used)
    with pytest.raises(UsageError, match="is not empty, and a backup is restored only into a database that is"):
        restore(used, tmp_path / "backup.db")
    assert contents(used) == before


def test_a_file_that_is_there_is_not_overwritten(where: str, tmp_path: Path) -> None:
    (tmp_path / "mine.db").write_text("mine")
    with pytest.raises(UsageError, match=r"mine.db exists already; name a new file"):
        back_up(where, tmp_path / "mine.db")
    assert (tmp_path / "mine.db").read_text() == "mine"


def test_a_backup_that_fails_leaves_nothing(full: ScoresStore, where: str, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(where, tmp_path / "new" / "backup.db", stop)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_restoration_that_fails_can_be_repeated(
    full: ScoresStore, where: str, server: Server, tmp_path: Path
) -> None:
    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    back_up(where, tmp_path / "backup.db")
    target = server.empty()
    with pytest.raises(KeyboardInterrupt):
        restore(target, tmp_path / "backup.db", stop)
    assert {name for name, rows in contents(target).items() if rows} == set(FRESH)
    restore(target, tmp_path / "backup.db")
    assert contents(target) == contents(where)


def test_a_backup_of_an_earlier_version_is_upgraded_on_the_way_and_stays_as_it_was(
    server: Server, tmp_path: Path
) -> None:
    file, target = tmp_path / "old.db", server.empty()
    write_old_database(str(file), tmp_path / "history")
    restore(target, file)
    assert (database_status(target).condition, database_status(target).runs) == ("current", 1)
    assert database_status(file).revision == "0003"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: None, "There is no backup"),
        (lambda folder: (folder / "backup.db").touch(), "There are no scores in"),
        (lambda folder: (folder / "backup.db").write_text("prose " * 1000), "is not a database"),
    ],
)
def test_a_file_that_is_not_a_backup_gets_one_sentence_and_restores_nothing(
    make: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    make(tmp_path)
    with pytest.raises(UsageError, match=sentence):
        restore(tmp_path / "scores.db", tmp_path / "backup.db")
    assert not (tmp_path / "scores.db").exists()


def test_older_scores_are_upgraded_before_they_are_backed_up(tmp_path: Path) -> None:
    write_old_database(str(tmp_path / "old.db"), tmp_path / "history")
    with pytest.raises(UsageError, match="has tables of version 0003, and this needs"):
        back_up(tmp_path / "old.db", tmp_path / "backup.db")
    assert database_status(tmp_path / "old.db").revision == "0003"
