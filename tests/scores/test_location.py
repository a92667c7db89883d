from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores.location import find_location

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
