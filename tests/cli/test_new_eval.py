import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.timeout(600)
def test_a_new_eval_validates_and_its_grader_tells_right_from_wrong(convex_evals: Command, tmp_path: Path) -> None:
    made = convex_evals("new-eval", "queries", "latest_notes", "--evals", "mine")
    assert made.returncode == 0, made.stderr
    assert "mine/evals/000-queries/000-latest_notes/TASK.txt\n" in made.stdout
    assert "convex-evals validate -f 000-queries/000-latest_notes --evals mine\n" in made.stdout
    validated = convex_evals("validate", "-f", "latest_notes", "--evals", "mine")
    assert validated.returncode == 0, validated.stdout
    checked = convex_evals("controls", "--evals", "mine", "--mutate", "--mutants", "1", "--json", "-")
    assert checked.returncode == 0, checked.stderr
    (found,) = json.loads(checked.stdout)["evals"]
    assert [wrong["caughtBy"] for wrong in found["wrong"]] == ["eslint", "tsc", "tests", "tests"]
    assert (found["mutants"]["killed"], found["mutants"]["total"]) == (1, 1)


def test_a_new_eval_with_given_files_validates_too(convex_evals: Command) -> None:
    made = convex_evals("new-eval", "evolution", "pinned_notes", "--given", "--evals", "mine")
    assert made.returncode == 0, made.stderr
    assert "mine/evals/000-evolution/000-pinned_notes/given/convex/index.ts\n" in made.stdout
    validated = convex_evals("validate", "--evals", "mine")
    assert validated.returncode == 0, validated.stdout


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_a_new_grader_of_given_files_tells_right_from_wrong(convex_evals: Command) -> None:
    convex_evals("new-eval", "evolution", "pinned_notes", "--given", "--evals", "mine")
    checked = convex_evals("controls", "--evals", "mine", "--json", "-")
    assert checked.returncode == 0, checked.stderr
    (found,) = json.loads(checked.stdout)["evals"]
    assert (found["reference"], found["empty"]) == ("passed", "failed")
    assert [(wrong["name"], wrong["caughtBy"]) for wrong in found["wrong"]] == [
        ("wrong-given-file", "filesystem"),
        ("wrong-oldest-first", "tests"),
        ("wrong-required-field", "tests"),
        ("wrong-scan", "tests"),
    ]


def test_an_eval_is_not_made_twice(convex_evals: Command) -> None:
    assert convex_evals("new-eval", "queries", "notes", "--evals", "mine").returncode == 0
    again = convex_evals("new-eval", "queries", "notes", "--evals", "mine")
    assert again.returncode == 2
    assert again.stderr == "convex-evals: There is 000-notes already; choose another name.\n"


def test_the_answer_of_the_apprentice_is_among_what_is_to_be_changed(convex_evals: Command, tmp_path: Path) -> None:
    assert "samples" not in convex_evals("new-eval", "queries", "first", "--evals", "mine").stdout
    (tmp_path / "mine" / "samples" / "apprentice").mkdir(parents=True)
    said = convex_evals("new-eval", "queries", "notes", "--evals", "mine").stdout
    step = "  5. mine/samples/apprentice/000-queries/001-notes.md, an answer as a model could give it\n"
    assert step in said
