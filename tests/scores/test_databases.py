from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.errors import InfrastructureError
from convex_evals.scores import ScoresStore, database_status, upgrade_database
from convex_evals.scores.schema import REVISIONS


def test_status_says_what_is_in_a_database(scene: Any, where: str) -> None:
    scene.attempt(scene.run())
    begun = scene.store.begin_attempt(scene.run(), "000-a/000-b")
    scene.store.record_generation(begun.id, scene.generation())
    found = database_status(where)
    assert (found.condition, found.revision, found.head) == ("current", REVISIONS.head, REVISIONS.head)
    assert (found.runs, found.attempts, found.artifacts) == (2, 2, 3)
    assert found.size is not None and found.size > 50_000


def test_status_of_an_empty_database_changes_nothing(server: Any) -> None:
    where = server.empty()
    expected = "missing" if server.name == "sqlite" else "empty"
    for _ in range(2):
        found = database_status(where)
        assert (found.condition, found.revision, found.runs) == (expected, None, 0)
    assert server.name != "sqlite" or not Path(where).exists()


def test_upgrade_makes_what_is_not_there_and_is_content_after_that(server: Any) -> None:
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
