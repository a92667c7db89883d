import os
import re
import stat
import threading
from pathlib import Path

import pytest

from convex_evals.backend.admin_keys import (
    LOCAL_ADMIN_KEY,
    LOCAL_NAME,
    LOCAL_SECRET,
    AdminCredential,
    AdminKeys,
    secret_for,
)
from convex_evals.core.errors import UsageError

KEYS = AdminKeys("happy-animal-123", "secret")
SECRET = KEYS.issue().partition("|")[2]


@pytest.mark.parametrize(
    "key",
    [
        KEYS.issue(),
        f"dev:happy-animal-123|{SECRET}",
        f"prod:happy-animal-123|{SECRET}",
        f"preview:any:thing|{SECRET}",
        f"project:team:project|{SECRET}",
        f"{KEYS.issue()}:eyJ9",
    ],
)
def test_a_key_of_the_deployment_is_accepted(key: str) -> None:
    assert KEYS.accept(AdminCredential.parse(key))


@pytest.mark.parametrize(
    "key",
    [
        "",
        "x",
        "happy-animal-123|",
        "happy-animal-123|wrong",
        f"other-name|{SECRET}",
        f"dev:other-name|{SECRET}",
        AdminKeys("happy-animal-123", "another secret").issue(),
        AdminKeys("other-name", "secret").issue(),
        "happy-animal-123|ключ",
        LOCAL_ADMIN_KEY,
        f"happy-animal-123|{LOCAL_ADMIN_KEY}",
    ],
)
def test_any_other_key_is_refused(key: str) -> None:
    assert not KEYS.accept(AdminCredential.parse(key))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name|secret", AdminCredential("name", "secret", None)),
        ("name|secret:payload", AdminCredential("name", "secret", "payload")),
        ("prod:name|secret:payload", AdminCredential("name", "secret", "payload")),
        ("preview:team:project|secret", AdminCredential(None, "secret", None)),
        ("secret", AdminCredential(None, "secret", None)),
        ("secret:payload", AdminCredential(None, "secret", "payload")),
    ],
)
def test_a_key_is_taken_apart_at_the_bar_and_the_colon_behind_it(text: str, expected: AdminCredential) -> None:
    assert AdminCredential.parse(text) == expected


def test_issued_keys_contain_no_colon_because_a_colon_starts_the_impersonation() -> None:
    assert ":" not in KEYS.issue()


WELL_KNOWN = AdminCredential.parse(LOCAL_ADMIN_KEY)


def test_the_name_and_the_secret_of_the_well_known_key_yield_it() -> None:
    keys = AdminKeys(LOCAL_NAME, LOCAL_SECRET)
    assert keys.issue() == LOCAL_ADMIN_KEY
    assert keys.accept(WELL_KNOWN)
    assert keys.accept(AdminCredential.parse(f"{LOCAL_NAME}|{LOCAL_ADMIN_KEY}"))


@pytest.mark.parametrize(
    ("name", "secret"), [(LOCAL_NAME, "another"), ("another", LOCAL_SECRET), (LOCAL_NAME, ""), ("", LOCAL_SECRET)]
)
def test_the_name_or_the_secret_alone_does_not(name: str, secret: str) -> None:
    keys = AdminKeys(name, secret)
    assert LOCAL_ADMIN_KEY not in keys.issue()
    assert not keys.accept(WELL_KNOWN)


def test_the_well_known_key_opens_other_deployments_only_when_they_say_so() -> None:
    keys = AdminKeys("happy-animal-123", "secret", accept_local_key=True)
    assert keys.issue() == KEYS.issue()
    assert keys.accept(AdminCredential.parse(keys.issue()))
    assert keys.accept(WELL_KNOWN)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "convex.db"


@pytest.fixture
def kept(database: Path) -> Path:
    return database.with_name("convex.db.secret")


def test_a_secret_is_drawn_once_and_kept_for_its_user_alone(database: Path, kept: Path) -> None:
    secret = secret_for(database)
    assert re.fullmatch("[0-9a-f]{64}", secret)
    assert secret_for(database) == secret
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [path.name for path in database.parent.iterdir()] == [kept.name]


def test_all_who_come_at_once_get_the_same_secret(database: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(secret_for(database))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(found)) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o601])
def test_a_secret_that_others_could_have_read_or_written_is_refused(database: Path, kept: Path, mode: int) -> None:
    secret_for(database)
    kept.chmod(mode)
    with pytest.raises(UsageError, match=f"must be readable by you alone .mode 600., but has mode {mode:o}; remove it"):
        secret_for(database)


@pytest.mark.parametrize("content", ["", "short", "Z" * 64, "0" * 65, "0" * 2000])
def test_a_file_that_holds_no_secret_is_refused_and_left_alone(database: Path, kept: Path, content: str) -> None:
    kept.touch(0o600)
    kept.write_text(content)
    with pytest.raises(UsageError, match="must hold 64 hexadecimal digits") as refused:
        secret_for(database)
    assert not content or content not in str(refused.value)
    assert kept.read_text() == content


def test_a_link_a_folder_or_a_pipe_is_not_accepted_as_a_secret(database: Path, kept: Path, tmp_path: Path) -> None:
    secret_for(tmp_path / "other")
    kept.symlink_to(tmp_path / "other.secret")
    with pytest.raises(UsageError, match="must be a file that its user can read"):
        secret_for(database)
    kept.unlink()
    kept.mkdir(0o700)
    with pytest.raises(UsageError, match="must be a plain file"):
        secret_for(database)
    kept.rmdir()
    os.mkfifo(kept, 0o600)
    with pytest.raises(UsageError, match="must be a plain file"):
        secret_for(database)


def test_a_folder_that_does_not_exist_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be writable for the deployment's secret, but: No such file"):
        secret_for(tmp_path / "missing" / "convex.db")
