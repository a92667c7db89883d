"""Answers in the user's editor: `controls new` makes a control of a changed copy, `open` deploys an answer."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest

from convex_evals.scores import Generation, Outcome, PlannedEval, RunPlan, ScoresStore
from convex_evals.suite import Selection, load_suite, own_suite, read_answer, select

Command = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = Path(sys.executable).parent / "convex-evals"
NEW = ("controls", "new", "000-hello")


@pytest.fixture
def controls(hello_suite: Callable[..., Path]) -> Path:
    return hello_suite(1).parent / "controls" / "000-basics" / "000-hello"


def test_a_changed_copy_of_the_reference_answer_becomes_a_control(convex_evals: Command, controls: Path) -> None:
    begun = convex_evals(*NEW, "wrong-to-the-moon")
    draft = controls / "wrong-to-the-moon.draft"
    assert "was copied to controls/000-basics/000-hello/wrong-to-the-moon.draft." in begun.stdout
    assert "Nothing is changed yet" in convex_evals(*NEW, "wrong-to-the-moon").stdout
    (draft / "to.txt").write_text("moon\n")
    (draft / ".to.txt.swp").write_text("what an editor leaves behind")
    refused = convex_evals(*NEW, "wrong-to-the-moon")
    assert refused.returncode == 2
    assert "add --why TEXT" in refused.stderr
    made = convex_evals(*NEW, "wrong-to-the-moon", "--why", "Somebody else is meant.")
    assert made.returncode == 0, made.stderr
    assert "wrong-to-the-moon.patch: fails at tests in test_says_it_to_the_right_one" in made.stdout
    assert [path.name for path in controls.iterdir()] == ["wrong-to-the-moon.patch"]
    assert (controls / "wrong-to-the-moon.patch").read_text() == (
        "Step: tests\nTest: test_says_it_to_the_right_one\nWhy: Somebody else is meant.\n\n"
        "--- a/to.txt\n+++ b/to.txt\n@@ -1 +1 @@\n-world\n+moon\n"
    )
    assert convex_evals("controls").returncode == 0


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("wrong-hello", "world\n\n", None),
        ("wrong-more", "world\n", "must fail, but passes every step"),
        ("alternative-moon", "moon\n", "must pass, but fails at tests: "),
    ],
)
def test_an_answer_with_an_unexpected_verdict_is_left_for_editing(
    convex_evals: Command, controls: Path, name: str, text: str, complaint: str | None
) -> None:
    convex_evals(*NEW, name)
    draft = controls / f"{name}.draft"
    (draft / "to.txt").write_text(text)
    (draft / "more.txt").write_text("more\n")
    result = convex_evals(*NEW, name, "--why", "It is tried.")
    if complaint is None:
        assert result.returncode == 0
    else:
        assert result.returncode == 1
        assert complaint in result.stdout
        assert draft.is_dir() and not draft.with_suffix(".patch").exists()


@pytest.mark.parametrize("name", ["moon", "wrong", "wrong-", "wrong-a/b"])
def test_a_control_says_in_its_name_what_it_is(convex_evals: Command, controls: Path, name: str) -> None:
    result = convex_evals(*NEW, name)
    assert result.returncode == 2
    assert "A control is named wrong-… or alternative-…" in result.stderr


def on_terminal(editor: Path, folder: Path, *arguments: object, **variables: str) -> Any:
    environment = {**os.environ, "EDITOR": f"sh {editor}", "TERM": "xterm", **variables}
    environment.pop("VISUAL", None)
    return pexpect.spawn(
        str(PROGRAM), [*map(str, arguments)], cwd=folder, env=environment, encoding="utf-8", timeout=200
    )


def test_on_a_terminal_the_editor_is_opened_and_waited_for(controls: Path, tmp_path: Path) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('test "$PWD" = "$1" && echo moon > to.txt\n')
    person = on_terminal(script, tmp_path, *NEW, "wrong-moon")
    try:
        person.expect_exact("What is wrong with it?")
        person.send("Somebody else is meant.\r")
        person.expect_exact("fails at tests")
        person.expect(pexpect.EOF)
    finally:
        person.close(force=True)
    assert "Why: Somebody else is meant." in (controls / "wrong-moon.patch").read_text()


@pytest.fixture
def answered(tmp_path: Path) -> str:
    """A run with the reference answer to an eval of our own."""
    name = "000-fundamentals/000-empty_functions"
    [chosen] = select(load_suite(own_suite()), Selection(names=[name]))
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        run = store.create_run(RunPlan("tester", "test", "default", (PlannedEval(name),)))
        attempt = store.begin_attempt(run, name).id
        store.record_generation(attempt, Generation("Write it.", "Here it is.", read_answer(chosen)))
        store.finish_attempt(attempt, Outcome("passed"))
    return run


def test_an_answer_is_opened_in_the_editor_with_its_deployment_until_interrupted(answered: str, tmp_path: Path) -> None:
    """The editor works in the project, whose .env.local names the deployment that runs."""
    output, seen, script = tmp_path / "output", tmp_path / "seen", tmp_path / "editor.sh"
    output.mkdir()
    asking = "import os, urllib.request; print(urllib.request.urlopen(os.environ['URL'] + '/version').status)"
    script.write_text(
        f'. ./.env.local\nls -d convex "$1"/package.json > {seen}\n'
        f'URL=$CONVEX_SELF_HOSTED_URL {sys.executable} -c "{asking}" >> {seen}\n'
    )
    options = ("--evals", own_suite(), "--sandbox", "available")
    person = on_terminal(script, tmp_path, "open", "latest", "empty_functions", *options, OUTPUT_TEMPDIR=str(output))
    try:
        person.expect_exact("The editor exited; the deployment runs until Ctrl-C.")
        [folder] = re.findall(r"project +(\S+)", person.before)
        assert Path(folder).is_relative_to(output)
        assert sorted(seen.read_text().splitlines()) == sorted([f"{folder}/package.json", "200", "convex"])
        person.sendintr()
        person.expect_exact("Everything is stopped and removed.")
        person.expect(pexpect.EOF)
    finally:
        person.close(force=True)
    assert person.exitstatus == 0
    assert list(output.iterdir()) == []


def test_there_must_be_an_answer_to_open(convex_evals: Command, record_run: Callable[..., str]) -> None:
    record_run({"000-first": "passed", "001-second": None})
    result = convex_evals("open", "latest", "001-second")
    assert result.returncode == 2
    assert "has not been tried in trial 1" in result.stderr
