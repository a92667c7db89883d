import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

Command = Callable[..., subprocess.CompletedProcess[str]]


def test_the_nearest_suite_is_listed_by_category(convex_evals: Command, suite_folder: Path) -> None:
    result = convex_evals("list")
    assert result.returncode == 0
    assert not result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[:6] == [
        ["eval", "pipeline", "grader", "gaps", "task"],
        ["000-basics", "(2)"],
        ["000-first", "full", "pytest", "no", "Task", "of", "000-basics/000-first."],
        ["001-second", "static", "none", "yet", "no", "Task", "of", "000-basics/001-second."],
        ["001-queries", "(1)"],
        ["000-index", "full", "vitest", "yes", "Task", "of", "001-queries/000-index."],
    ]
    assert result.stdout.splitlines()[-1].startswith(f"3 evals in 2 categories · {suite_folder} · suite ")


def test_json_has_every_fact_and_stable_names(convex_evals: Command, suite_folder: Path) -> None:
    listed = json.loads(convex_evals("list", "--json").stdout)
    assert listed["suite"] == {
        "root": str(suite_folder),
        "fingerprint": listed["suite"]["fingerprint"],
        "packagesBefore": None,
        "answerFiles": ["**/*"],
        "total": 3,
    }
    assert listed["categories"] == [{"category": "000-basics", "evals": 2}, {"category": "001-queries", "evals": 1}]
    last = listed["evals"][2]
    assert last == {
        "eval": "001-queries/000-index",
        "category": "001-queries",
        "name": "000-index",
        "path": str(suite_folder / "001-queries/000-index"),
        "pipeline": "full",
        "grader": "vitest",
        "task": "Task of 001-queries/000-index.\n",
        "hasGaps": True,
        "hasGiven": False,
        "tags": {"concepts": [], "difficulty": None},
        "fingerprints": last["fingerprints"],
    }
    assert [len(text) for text in last["fingerprints"].values()] == [64, 64]
    assert listed["problems"] == []
    assert [warning["found"] for warning in listed["warnings"]] == ["has no grader yet"]


def test_tags_are_listed_and_select_evals(convex_evals: Command, suite_folder: Path) -> None:
    tags = '{"concepts": ["contention"], "difficulty": {"level": "hard", "source": "calibration"}}'
    (suite_folder / "000-basics/000-first/eval.json").write_text(f'{{"tags": {tags}}}')
    rows = [line.split() for line in convex_evals("list", "--tag", "hard", "--tag", "contention").stdout.splitlines()]
    assert rows[:3] == [
        ["eval", "pipeline", "grader", "gaps", "difficulty", "concepts", "task"],
        ["000-basics", "(1)"],
        ["000-first", "full", "pytest", "no", "hard", "contention", "Task", "of", "000-basics/000-first."],
    ]
    assert "1 eval in 1 category · 1 hard ·" in convex_evals("list", "--tag", "hard").stdout
    assert "3 evals in 2 categories · 1 hard, 2 without difficulty ·" in convex_evals("list").stdout
    assert "Given twice: with either." in " ".join(convex_evals("list", "--help").stdout.split())
    listed = json.loads(convex_evals("list", "--json").stdout)
    assert listed["tags"] == [{"tag": "contention", "evals": 1}, {"tag": "hard", "evals": 1}]
    assert listed["evals"][0]["tags"] == json.loads(tags)
    refused = convex_evals("list", "--tag", "contentoin")
    assert (refused.returncode, "did you mean contention?" in refused.stderr) == (2, True)


def test_the_difficulty_is_the_last_fact_to_go_on_a_narrow_terminal(
    convex_evals: Command, suite_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = '{"concepts": ["contention"], "difficulty": {"level": "hard", "source": "calibration"}}'
    (suite_folder / "000-basics/000-first/eval.json").write_text(f'{{"tags": {tags}}}')
    narrow = Console(width=60, force_terminal=True, color_system=None, markup=False)
    monkeypatch.setattr("convex_evals.cli.output.console", lambda: narrow)
    assert "  000-first   hard   Task of 000-basics/000-first." in convex_evals("list").stdout


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (["-c", "basics"], ["000-first", "001-second"]),
        (["--category", "001-queries", "-c", "000"], ["000-first", "001-second", "000-index"]),
        (["-f", "basics/.*second|index"], ["001-second", "000-index"]),
        (["--filter", "^001", "--category", "queries"], ["000-index"]),
        (["--name", "000-basics/000-first"], ["000-first"]),
    ],
)
def test_filters_choose(convex_evals: Command, suite_folder: Path, filters: list[str], names: list[str]) -> None:
    listed = json.loads(convex_evals("list", "--json", *filters).stdout)
    assert [each["name"] for each in listed["evals"]] == names
    assert listed["suite"]["total"] == 3


def test_a_suite_in_another_folder_can_be_named(convex_evals: Command, suite_folder: Path) -> None:
    elsewhere = suite_folder.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.move(suite_folder, elsewhere / "evals")
    for folder in (elsewhere, elsewhere / "evals", Path("elsewhere")):
        listed = json.loads(convex_evals("list", "--json", "--evals", folder).stdout)
        assert listed["suite"]["root"] == str(elsewhere / "evals")


def test_without_a_suite_nearby_the_bundled_one_is_listed(convex_evals: Command) -> None:
    assert "000-empty_functions" in convex_evals("list").stdout


def test_a_broken_eval_is_reported_while_the_rest_is_listed(convex_evals: Command, suite_folder: Path) -> None:
    broken = suite_folder / "000-basics/000-first/TASK.txt"
    broken.write_bytes(b"\xff")
    result = convex_evals("list", "--json")
    assert result.returncode == 2
    assert result.stderr == f"broken: {broken}: is not UTF-8 (byte 0); save it as UTF-8.\n"
    listed = json.loads(result.stdout)
    assert [each["name"] for each in listed["evals"]] == ["001-second", "000-index"]
    assert listed["problems"] == [{"path": str(broken), "found": "is not UTF-8 (byte 0)", "fix": "save it as UTF-8"}]


def test_when_every_eval_is_broken_nothing_is_listed_but_the_problems(
    convex_evals: Command, suite_folder: Path
) -> None:
    for task in suite_folder.rglob("TASK.txt"):
        task.unlink()
    result = convex_evals("list")
    assert result.returncode == 2
    assert result.stderr.count("has no TASK.txt") == 3
    assert "0 evals in 0 categories, 3 broken" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--evals", "nowhere"], "nowhere does not exist; name a folder that holds evals"),
        (["--filter", "["], "Expected a regular expression as filter, found '['"),
        (["--category", "querys"], "There is no category 'querys' in this suite; did you mean queries?"),
        (["--name", "x", "--json"], "There is no eval 'x' in this suite;"),
        (["--filter", "nothing"], "No eval matches;"),
        (["--evals"], "--evals must be followed by a value"),
        (["extra"], "Nothing more was expected, but there is extra."),
        (["--jsn"], "There is no option --jsn; did you mean --json?"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    convex_evals: Command, suite_folder: Path, arguments: list[str], sentence: str
) -> None:
    result = convex_evals("list", *arguments)
    assert result.returncode == 2
    assert not result.stdout
    assert result.stderr.startswith(f"convex-evals: {sentence}")
    assert result.stderr.count("\n") == 1


def test_what_most_tasks_begin_with_is_left_out_of_the_list(convex_evals: Command, suite_folder: Path) -> None:
    for number in range(6):
        folder = suite_folder / f"000-basics/01{number}-more"
        shutil.copytree(suite_folder / "000-basics/000-first", folder)
        (folder / "TASK.txt").write_text(f"Write a backend that does {number}.\nThen test it.\n")
    (suite_folder / "001-queries/000-index/TASK.txt").write_text("Draw a page.\n")
    listed = convex_evals("list", "-f", "more|index").stdout
    assert "pytest  no    … 3." in listed and "vitest  yes   Draw a page." in listed
    assert "… 3." in convex_evals("list", "-f", "013-more").stdout  # the same whatever is chosen


def test_a_word_that_many_tasks_begin_with_is_no_reason_to_break_their_sentences(
    convex_evals: Command, suite_folder: Path
) -> None:
    for number in range(6):
        folder = suite_folder / f"000-basics/01{number}-more"
        shutil.copytree(suite_folder / "000-basics/000-first", folder)
        (folder / "TASK.txt").write_text(f"Write number {number}.\n")
    assert "no    Write number 3." in convex_evals("list").stdout
