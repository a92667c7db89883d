"""Results that are kept in the cache."""

from pathlib import Path

import pytest

from convex_evals.pipeline.workspace import keep, read_kept


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    keep(tmp_path / "new/one.json", {"a": ["ü", None]})
    assert read_kept(tmp_path / "new/one.json") == {"a": ["ü", None]}
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["one.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.replace(b"right", b"wrong"),
        lambda content: content[:-1],
        lambda content: content[65:],
        lambda content: b"",
        lambda content: b"\xff" + content,
    ],
)
def test_what_was_altered_counts_as_missing(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "one.json"
    keep(path, {"answer": "right"})
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    assert read_kept(path) is None
