import os
import re
import stat
import threading
from pathlib import Path

import pytest

from convex_evals.backend.secret_file import secret_beside
from convex_evals.core.errors import UsageError


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "convex.db"


@pytest.fixture
def kept(database: Path) -> Path:
    return database.with_name("convex.db.secret")


def test_a_secret_is_drawn_once_and_kept_for_its_user_alone(database: Path, kept: Path) -> None:
    secret = secret_beside(database)
    assert re.fullmatch("[0-9a-f]{64}", secret)
    assert secret_beside(database) == secret
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [path.name for path in database.parent.iterdir()] == [kept.name]


def test_all_who_come_at_once_get_the_same_secret(database: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(secret_beside(database))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(found)) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o601])
def test_a_secret_that_others_could_have_read_or_written_is_refused(database: Path, kept: Path, mode: int) -> None:
    secret_beside(database)
    kept.chmod(mode)
    with pytest.raises(UsageError, match=f"must be readable by you alone .mode 600., but has mode {mode:o}; remove it"):
        secret_beside(database)


@pytest.mark.parametrize("content", ["", "short", "Z" * 64, "0" * 65, "0" * 2000])
def test_a_file_that_holds_no_secret_is_refused_and_left_alone(database: Path, kept: Path, content: str) -> None:
    kept.touch(0o600)
    kept.write_text(content)
    with pytest.raises(UsageError, match="must hold 64 hexadecimal digits") as refused:
        secret_beside(database)
    assert not content or content not in str(refused.value)
    assert kept.read_text() == content


def test_a_link_a_folder_and_a_pipe_are_no_secret(database: Path, kept: Path, tmp_path: Path) -> None:
    secret_beside(tmp_path / "other")
    kept.symlink_to(tmp_path / "other.secret")
    with pytest.raises(UsageError, match="must be a file that its user can read"):
        secret_beside(database)
    kept.unlink()
    kept.mkdir(0o700)
    with pytest.raises(UsageError, match="must be a plain file"):
        secret_beside(database)
    kept.rmdir()
    os.mkfifo(kept, 0o600)
    with pytest.raises(UsageError, match="must be a plain file"):
        secret_beside(database)


def test_a_folder_that_does_not_exist_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be writable for the deployment's secret, but: No such file"):
        secret_beside(tmp_path / "missing" / "convex.db")
