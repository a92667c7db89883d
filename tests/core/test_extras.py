import sys

import pytest

from convex_evals.core.errors import MissingExtraError
from convex_evals.core.extras import BROWSER, POSTGRES, Extra


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
