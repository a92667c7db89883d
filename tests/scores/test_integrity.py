import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from tests.scores.conftest import Scene, Server
from tests.scores.test_labels import EVAL

from convex_evals.core.errors import UsageError
from convex_evals.scores import ScoresStore, check_database
from convex_evals.scores.integrity import BrokenReference, DamagedArtifact, Use

Tamper = Callable[[str], None]


@pytest.fixture
def tamper(server: Server, where: str) -> Tamper:
    """SQL past everything with which the database protects itself."""

    def tamper(statement: str) -> None:
        if server.name == "postgresql":
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute(b"SET session_replication_role = replica")
                connection.execute(statement.encode())
            return
        file = sqlite3.connect(where, isolation_level=None)
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {name}")
        file.execute(statement)
        file.close()

    return tamper


@pytest.fixture
def recorded(scene: Scene) -> str:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation())
    scene.store.record_step(begun.id, scene.step(b"what tsc said"))
    scene.store.finish_run(run_id, "stopped")
    return run_id


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.both_engines
def test_sound_scores_are_reported_as_sound(recorded: str, where: str) -> None:
    told: list[tuple[int, int]] = []
    found = check_database(where, lambda done, total: told.append((done, total)))
    assert found.sound
    assert (found.artifacts, told[-1]) == (4, (4, 4))
    assert found.references > 10


@pytest.mark.parametrize("bit", [3, -2])
def test_a_flipped_bit_is_found_and_named(recorded: str, where: str, server: Server, tamper: Tamper, bit: int) -> None:
    [[log, content]] = server.execute(where, "SELECT log, content FROM artifact_chunks JOIN steps ON log = sha256")
    changed = flipped(content, bit % (8 * len(content))).hex()
    value = f"X'{changed}'" if server.name == "sqlite" else f"'\\x{changed}'"
    tamper(f"UPDATE artifact_chunks SET content = {value} WHERE sha256 = '{log}'")
    found = check_database(where)
    assert not found.sound
    assert found.damaged == (DamagedArtifact(log, (Use(recorded, EVAL, "log of tsc"),)),)
    assert (found.broken, found.file) == ((), ())


def test_a_bit_that_flips_on_the_disk_is_found(files: Server, tmp_path: Path) -> None:
    where = Path(files.ready())
    with ScoresStore.open(where) as store:
        scene = Scene(store, tmp_path)
        run_id = scene.run()
        store.record_generation(store.begin_attempt(run_id, EVAL).id, scene.generation("the answer"))
    [[content]] = files.execute(
        str(where), "SELECT content FROM artifact_chunks JOIN generations ON response = artifact_chunks.sha256"
    )
    raw = where.read_bytes()
    where.write_bytes(flipped(raw, 8 * (raw.index(content) + len(content) // 2)))
    [damaged] = check_database(where).damaged
    assert damaged.uses == (Use(run_id, EVAL, "response"),)


def test_an_artifact_without_its_bytes_is_damaged(recorded: str, where: str, tamper: Tamper) -> None:
    tamper("DELETE FROM artifact_chunks")
    assert len(check_database(where).damaged) == 4


@pytest.mark.both_engines
def test_a_reference_to_nothing_is_found_and_named(scene: Scene, recorded: str, where: str, tamper: Tamper) -> None:
    attempt = scene.store.details(recorded)[0].attempt.id
    tamper("DELETE FROM steps")
    tamper("UPDATE generations SET reused_from = 'nobody'")
    tamper("DELETE FROM work_periods")
    assert check_database(where).broken == (BrokenReference("generations", (attempt,), "generations", ("nobody",)),)


def test_looking_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There are no scores in"):
        check_database(tmp_path / "scores.db")
    assert list(tmp_path.iterdir()) == []
