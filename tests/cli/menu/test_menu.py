"""The menu, driven on a real terminal as a person would."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.menu.menu import MenuSelection, Scope

PROGRAM = Path(sys.executable).parent / "convex-evals"
PATIENCE = 200
COLOUR = r"(?:\x1b\[[0-9;]*m)*"
DOWN, SPACE, ENTER, CONTROL_C = "\x1b[B", " ", "\r", "\x03"


class Terminal:
    """A person in front of the menu: waits for words, then presses keys."""

    def __init__(self, folder: Path, **variables: str) -> None:
        environment = {**os.environ, "TERM": "xterm-256color", "OPENAI_API_KEY": "", **variables}
        environment.pop("COLUMNS", None)  # of whoever runs the tests
        self.child = pexpect.spawn(
            str(PROGRAM), cwd=folder, env=environment, encoding="utf-8", timeout=PATIENCE, dimensions=(50, 160)
        )

    def opens_models(self) -> None:
        self.sees("What would you like to do?", "run models", "leave")
        self.presses(ENTER)
        self.sees("Which models?")

    def sees(self, *words: str) -> None:
        for each in words:
            self.child.expect_exact(each)

    def presses(self, *keys: str) -> None:
        self.child.send("".join(keys))

    def searches_and_takes(self, word: str) -> None:
        self.presses(word)
        self.child.expect(rf"/ {COLOUR}{re.escape(word)}{COLOUR}\.\.\.")
        self.presses(SPACE, ENTER)

    def leaves_with(self) -> int | None:
        self.child.expect(pexpect.EOF)
        self.child.close()
        code: int | None = self.child.exitstatus
        return code


@pytest.fixture
def terminal(tmp_path: Path, hello_suite: Callable[..., Path]) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []
    hello_suite(2, wrong=(1,))

    def open_terminal(**variables: str) -> Terminal:
        opened.append(Terminal(tmp_path, **variables))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.child.close(force=True)


def test_models_and_evals_are_chosen_and_a_run_is_started(terminal: Callable[..., Terminal]) -> None:
    person = terminal()
    person.opens_models()
    person.sees("anthropic · 6 models (ANTHROPIC_API_KEY missing)")
    person.searches_and_takes("refer")
    person.sees("Which evals?", "all 2", "one by one")
    person.presses(DOWN, DOWN, ENTER)
    person.sees("Which ones?", "000-basics/001-hello")
    person.presses(SPACE, ENTER)
    person.sees("How many trials per task?")
    person.presses(ENTER)
    person.sees("1 eval, 1 model, 1 answer to grade", "no provider is asked, so it costs nothing")
    person.sees("convex-evals run -m reference --name 000-basics/000-hello", "Start this run?", "start it")
    person.presses(ENTER)
    person.sees("1 of 1 passed, 0 failed")
    assert person.leaves_with() == 0


def test_a_model_with_a_key_comes_first_and_its_cost_is_estimated(terminal: Callable[..., Terminal]) -> None:
    person = terminal(OPENAI_API_KEY="sk-test")
    person.opens_models()
    person.sees("» ○ openai/", "reference", "anthropic · 6 models (ANTHROPIC_API_KEY missing)")
    person.searches_and_takes("gpt-4.1")
    person.sees("Which experiment?", "default", "no_guidelines")
    person.presses(DOWN, ENTER)
    person.sees("Which evals?")
    person.presses(DOWN, ENTER)
    person.sees("Which categories?", "000-basics (2)")
    person.presses(SPACE, ENTER)
    person.sees("How many trials")
    person.presses("\x7f3", ENTER)
    person.sees("2 evals, 1 model, 6 answers to grade", "6 answers to ask for", "about $")
    person.sees(
        "convex-evals run -m openai/gpt-4.1 -c 000-basics -e no_guidelines --trials 3", "Start this run?", "leave"
    )
    person.presses(DOWN, DOWN, ENTER)
    assert person.leaves_with() == 0


def test_the_menu_leads_to_other_commands_and_back_and_a_local_model_and_its_server_are_named(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    person = terminal()
    person.sees(
        "What would you like to do?", "run models", "see a demo", "check whether this machine is ready", "leave"
    )
    person.presses(DOWN, DOWN, ENTER)
    person.sees("convex-evals doctor", "status", "This machine is ")
    person.opens_models()
    person.searches_and_takes("local")
    person.sees("What does the server call the model?")
    person.presses("tiny", ENTER)
    person.sees("Where is the server?", "http://127.0.0.1:8080/v1")
    person.presses(ENTER)
    person.sees("Which experiment?")
    person.presses(ENTER)
    person.sees("Which evals?")
    person.presses(ENTER)
    person.sees("How many trials")
    person.presses(ENTER)
    person.sees("2 answers to ask for", "price unknown")
    person.sees("convex-evals run -m local/tiny --base-url http://127.0.0.1:8080/v1", "Start this run?", "leave")
    person.presses(CONTROL_C)
    assert person.leaves_with() == INTERRUPTED
    assert "Traceback" not in (person.child.before or "")
    assert [path.name for path in tmp_path.iterdir()] == ["evals"], "nothing was written"


def test_the_menu_leads_to_runs_once_there_are_some_and_what_failed_last_time_can_be_run_again(
    terminal: Callable[..., Terminal], convex_evals: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    convex_evals("run", "-m", "reference")
    convex_evals("run", "-m", "reference", "--name", "000-hello")
    (run, _) = json.loads(convex_evals("status", "--json").stdout)["runs"]
    person = terminal()
    person.sees("look at the latest run", "open the pages in a browser", "leave")
    person.presses(DOWN, ENTER)
    person.sees("convex-evals show", "000-basics/000-hello", f"run {run['id'][:8]}")
    person.opens_models()
    person.sees("reference · Reference answers · last 50.0% (9% to 91%)")
    person.searches_and_takes("refer")
    person.sees("what failed last time")
    person.presses(DOWN, DOWN, DOWN, ENTER)
    person.sees("How many trials")
    person.presses(ENTER)
    person.sees("1 eval, 1 model, 1 answer", "convex-evals run -m reference --failed", "Start this run?")
    person.presses(DOWN, ENTER)
    person.sees("Which models?")


def test_leave_leaves(terminal: Callable[..., Terminal]) -> None:
    person = terminal()
    person.sees("What would you like to do?", "leave")
    person.presses(DOWN, DOWN, DOWN, ENTER)
    assert person.leaves_with() == 0


def test_a_terminal_that_cannot_move_its_cursor_sees_the_help(terminal: Callable[..., Terminal]) -> None:
    person = terminal(TERM="dumb")
    person.sees("Usage: convex-evals")
    assert person.leaves_with() == 0


@pytest.mark.parametrize(
    ("chosen", "command"),
    [
        (MenuSelection(["reference"]), "run -m reference"),
        (MenuSelection(["a/b", "reference"], trials=3), "run -m a/b -m reference --trials 3"),
        (MenuSelection(["a/b"], scope=Scope(categories=["000-x", "001-y"])), "run -m a/b -c 000-x -c 001-y"),
        (MenuSelection(["a/b"], scope=Scope(names=["000-x/000-y"])), "run -m a/b --name 000-x/000-y"),
        (MenuSelection(["a/b"], scope=Scope(failed=True)), "run -m a/b --failed"),
        (MenuSelection(["local/m"], base_url="http://h/v1"), "run -m local/m --base-url http://h/v1"),
        (MenuSelection(["local/a b"], experiment="agents_md"), "run -m 'local/a b' -e agents_md"),
    ],
)
def test_what_was_chosen_is_a_command_line_that_says_the_same(chosen: MenuSelection, command: str) -> None:
    assert chosen.command == f"convex-evals {command}"
    options = chosen.options()
    scope = chosen.scope
    assert (options.models, options.categories, options.names) == (chosen.models, [*scope.categories], [*scope.names])
    assert (options.failed, options.trials, options.base_url) == (scope.failed, chosen.trials, chosen.base_url)
