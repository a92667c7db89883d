import sys
from pathlib import Path

import pytest

import convex_evals
from convex_evals.core.distribution import BROWSER, POSTGRES, Extra, checkout_root, package_folder
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
