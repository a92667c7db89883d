from pathlib import Path

import pytest

from convex_evals.core.errors import SettingsError
from convex_evals.core.settings.variables import ENV_FILE, find_file, read_env_file


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """home/repository/.git with a folder deep inside, and a folder outside home."""
    (tmp_path / "home/repository/.git").mkdir(parents=True)
    (tmp_path / "home/repository/deep/inside").mkdir(parents=True)
    (tmp_path / "home/plain/inside").mkdir(parents=True)
    (tmp_path / "shared/folder").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "cwd", "found"),
    [
        ([], "home/repository/deep", None),
        (["home/repository/deep/inside/.env", "home/repository/.env"], "home/repository/deep/inside", 0),
        (["home/repository/.env"], "home/repository/deep/inside", 0),
        (["home/.env"], "home/repository/deep/inside", None),
        (["home/.env"], "home/plain/inside", 0),
        ([".env"], "home/plain/inside", None),
        (["shared/folder/.env"], "shared/folder", 0),
        (["shared/.env"], "shared/folder", None),
    ],
    ids=[
        "none anywhere",
        "the nearest wins",
        "upward to the git root",
        "not beyond the git root",
        "upward to home",
        "not beyond home",
        "the working folder itself",
        "not upward outside home and git",
    ],
)
def test_the_env_file_is_looked_for(tree: Path, files: list[str], cwd: str, found: int | None) -> None:
    for name in files:
        (tree / name).write_text("A=1\n")
    expected = None if found is None else tree / files[found]
    assert find_file(ENV_FILE, tree / cwd, tree / "home") == expected


def test_values_are_read_literally(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(
        "\ufeff# comment\nPLAIN=a b # comment\nexport EXPORTED=1\nSINGLE='a # b'\nDOUBLE=\"line\\nline\"\n"
        "DOLLAR=$HOME${HOME}\nEMPTY=\nNAKED\n",
        encoding="utf-8",
    )
    assert read_env_file(path) == {
        "PLAIN": "a b",
        "EXPORTED": "1",
        "SINGLE": "a # b",
        "DOUBLE": "line\nline",
        "DOLLAR": "$HOME${HOME}",
        "EMPTY": "",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"A=1\n\n\nsk-secret-key here\n", "line 4: write NAME=value"),
        (b"KEY='sk-secret-key\n", "line 1: write NAME=value"),
        (b"A=\xff\xfe\n", "must be UTF-8"),
    ],
)
def test_a_broken_env_file_is_named_with_its_line_but_not_quoted(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / ".env"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        read_env_file(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert caught.value.exit_code == 2
