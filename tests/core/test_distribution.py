import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import convex_evals
from convex_evals.core.distribution import (
    BROWSER,
    POSTGRES,
    Extra,
    as_invoked,
    checkout_root,
    invoked_name,
    package_folder,
)
from convex_evals.core.errors import MissingExtraError


def test_the_package_folder_is_where_the_package_was_imported_from() -> None:
    assert convex_evals.__file__ is not None
    assert package_folder() == Path(convex_evals.__file__).resolve().parent


def test_the_checkout_is_the_repository_that_holds_these_tests() -> None:
    assert checkout_root() == Path(__file__).resolve().parents[2]


def test_the_clone_has_every_extra() -> None:
    for extra in (BROWSER, POSTGRES):
        extra.require()


def test_a_missing_extra_is_one_sentence_with_the_command_that_installs_it() -> None:
    absent = Extra("postgres", "a_module_that_is_not_there", "scores in PostgreSQL")
    with pytest.raises(MissingExtraError) as raised:
        absent.require()
    assert str(raised.value) == (
        "Scores in PostgreSQL need a_module_that_is_not_there, but the extra [postgres] is not installed; "
        f"run: {sys.executable} -m pip install 'convex-evals[postgres]'"
    )
    assert raised.value.exit_code == 3


@pytest.fixture
def started_as(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """What the program is to be called when it was started as this, from this folder and with this on PATH."""
    root = Path(__file__).resolve().parents[2]

    def started_as(program: str, *, folder: Path = root, path: str = "/usr/bin") -> str:
        monkeypatch.setattr(sys, "argv", [program.replace("ROOT", str(root))])
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PATH", path.replace("ROOT", str(root)))
        invoked_name.cache_clear()
        return invoked_name().replace(str(root), "ROOT")

    yield started_as
    invoked_name.cache_clear()


def test_hints_have_the_name_that_works_here(started_as: Callable[..., str], tmp_path: Path) -> None:
    ours = "ROOT/.venv/bin/convex-evals"
    assert started_as(ours) == "./convex-evals"
    assert started_as(ours, folder=tmp_path) == "ROOT/convex-evals"
    assert started_as(ours, path="ROOT/.venv/bin:/usr/bin") == "convex-evals"
    assert started_as(ours, path="ROOT:/usr/bin", folder=tmp_path) == "convex-evals"
    assert started_as("ROOT/src/convex_evals/__main__.py") == f"{Path(sys.executable).name} -m convex_evals"
    assert started_as("/usr/bin/pytest") == "convex-evals"


def test_only_command_lines_and_pages_of_a_text_are_rewritten(started_as: Callable[..., str]) -> None:
    started_as("ROOT/.venv/bin/convex-evals")
    text = "convex-evals is newer; `convex-evals db upgrade` helps.\n  2. convex-evals list\nhttps://x/convex-evals y"
    assert as_invoked(text) == text.replace("`convex", "`./convex").replace("2. convex", "2. ./convex").replace(
        "convex-evals is", "./convex-evals is"
    )
    assert as_invoked("see docs/suite.md and docs/nowhere.md") == "see docs/suite.md and docs/nowhere.md"
    assert package_folder().parent.parent / "docs" / "suite.md"
