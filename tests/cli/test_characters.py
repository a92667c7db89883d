"""Output on terminals that have nothing but ASCII."""

import io
import subprocess
from collections.abc import Callable, Mapping

import pytest

from convex_evals.cli.characters import SIGNS, is_ascii_only

Command = Callable[..., subprocess.CompletedProcess[str]]


class Stream(io.TextIOWrapper):
    def __init__(self, encoding: str, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("environment", "encoding", "terminal", "expected"),
    [
        ({}, "utf-8", True, False),
        ({"LANG": "en_US.UTF-8"}, "utf-8", True, False),
        ({"LANG": "C"}, "utf-8", True, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", False, True),  # what Python makes of LANG=C
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, "utf-8", True, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, "utf-8", True, True),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, "utf-8", True, False),
        ({"LANG": "de_DE"}, "iso8859-1", True, True),
        ({"TERM": "dumb"}, "utf-8", True, True),
        ({"TERM": "dumb"}, "utf-8", False, False),
    ],
)
def test_ascii_is_used_where_the_terminal_shows_nothing_else(
    environment: Mapping[str, str], encoding: str, terminal: bool, expected: bool
) -> None:
    assert is_ascii_only(Stream(encoding, terminal=terminal), environment) is expected


def test_every_sign_becomes_ascii() -> None:
    assert all(sign.isascii() and sign for sign in SIGNS.values())


def test_tables_stay_aligned_and_data_stays_as_it_is(
    installed: Command, convex_evals: Command, record_run: Callable[..., str]
) -> None:
    record_run({"000-first": "passed", "001-second": "failed"})
    plain = {"LC_ALL": "C", "COLUMNS": "100"}
    shown = installed("show", **plain)
    assert shown.stdout.isascii() and shown.stderr.isascii()
    heading, first, second = shown.stdout.splitlines()[:3]
    assert (first[heading.index("tests") :].split()[0], second[heading.index("tests") :].split()[0]) == ("+", "x")
    assert "✗ test_order" in convex_evals("show", "--csv", **plain).stdout
