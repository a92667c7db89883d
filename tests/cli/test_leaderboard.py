"""Ranking: benchmark versions and the leaderboard, from real runs of quick evals."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
HelloSuite = Callable[..., Path]


@pytest.fixture
def minted(
    convex_evals: Command, hello_suite: HelloSuite, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Three evals whose references pass, minted as v1: once, and then copied."""
    kept = tmp_path_factory.getbasetemp() / "minted"
    if not kept.exists():
        hello_suite(3)
        assert convex_evals("validate").returncode == 0
        made = convex_evals("benchmark", "mint", "v1")
        assert made.stdout.startswith("Minted v1: 3 evals,"), made.stderr
        shutil.copytree(tmp_path, kept)
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    return tmp_path / "evals"


def answers(folder: Path, *, right: int) -> str:
    """Recorded answers of which so many are right."""
    for number in range(3):
        answer = folder / "000-basics" / f"{number:03}-hello"
        answer.mkdir(parents=True)
        (answer / "hello.txt").write_text("hello\n")
        (answer / "to.txt").write_text("world\n" if number < right else "nobody\n")
    return f"replay:{folder}"


def test_complete_runs_of_a_version_are_ranked(convex_evals: Command, minted: Path, tmp_path: Path) -> None:
    for name, right in (("good", 3), ("fair", 1)):
        assert convex_evals("run", "-m", answers(tmp_path / name, right=right)).returncode == 0
    found = json.loads(convex_evals("leaderboard", "--json").stdout)
    assert found["benchmark"]["name"] == "v1"
    assert [(each["score"]["value"], each["rank"]) for each in found["models"]] == [
        (1.0, [1, 2]),
        (pytest.approx(1 / 3), [1, 2]),
    ]
    assert found["models"][0]["categories"]["000-basics"]["evals"] == 3
    lines = convex_evals("leaderboard").stdout.splitlines()
    assert lines[0] == "benchmark v1 · 3 evals · experiment default"
    assert lines[2].split()[:2] == ["1–2", found["models"][0]["model"]]
    rows = convex_evals("leaderboard", "--csv").stdout.splitlines()
    assert rows[0].startswith("rank_best,rank_worst,model,score,low,high")
    assert len(rows) == 3
    page = convex_evals("leaderboard", "--markdown").stdout.splitlines()
    assert page[0] == "| rank | model | score | 95% interval | runs | cost | generation |"
    assert page[2].startswith("| 1–2 | replay:") and len(page) == 4
    shown = found["models"][1]["model"]
    assert convex_evals("runs", "hide", "latest", "--why", "Wrong guidelines.").returncode == 0
    assert shown not in convex_evals("leaderboard").stdout  # hidden runs count nowhere


def test_scores_by_tag_have_intervals_in_every_shape_difficulties_first(
    convex_evals: Command, minted: Path, tmp_path: Path
) -> None:
    tags = {"concepts": ["greetings"], "difficulty": {"level": "medium", "source": "author"}}
    (minted / "000-basics/002-hello/eval.json").write_text(json.dumps({"pipeline": "static", "tags": tags}))
    for name, right in (("good", 3), ("fair", 1)):
        assert convex_evals("run", "-m", answers(tmp_path / name, right=right)).returncode == 0
    lines = convex_evals("leaderboard", "--by-tag").stdout.splitlines()
    cells = ["1", "100.0%", "(21%", "to", "100%)", "0.0%", "(0%", "to", "79%)"]
    assert [line.split() for line in lines[-2:]] == [["medium", *cells], ["greetings", *cells]]
    header, first, second = convex_evals("leaderboard", "--by-tag", "--csv").stdout.splitlines()
    assert header.endswith(",cost_unknown,tag:medium,tag:greetings")
    assert (first[-14:], second[-14:]) == (",1.0000,1.0000", ",0.0000,0.0000")
    page = convex_evals("leaderboard", "--by-tag", "--markdown").stdout
    assert "\n\n| tag | evals | replay:" in page
    assert "| medium | 1 | 100.0% (21% to 100%) | 0.0% (0% to 79%) |" in page
    plain = convex_evals("leaderboard", "--json").stdout
    assert list(json.loads(plain)["models"][0]["tags"]) == ["greetings", "medium"]
    assert convex_evals("leaderboard", "--by-tag", "--json").stdout == plain


def test_runs_that_do_not_belong_are_listed_with_the_reason(
    convex_evals: Command, minted: Path, tmp_path: Path
) -> None:
    model = answers(tmp_path / "good", right=3)
    convex_evals("run", "-m", model, "--filter", "000-hello")
    convex_evals("run", "-m", model, "--linter", "eslint")
    found = json.loads(convex_evals("leaderboard", "--json").stdout)
    assert found["models"] == []
    assert sorted(each["why"] for each in found["notRanked"]) == [
        "graded with other options or another version of convex-evals",
        "other evals: 1 of 3 is the same as in v1",
    ]
    assert "No complete run belongs to it yet." in convex_evals("leaderboard").stdout


def test_a_version_is_minted_only_from_a_suite_that_is_proven(
    convex_evals: Command, hello_suite: HelloSuite, tmp_path: Path
) -> None:
    hello_suite(2, wrong=(1,))
    assert convex_evals("validate").returncode == 1
    refused = convex_evals("benchmark", "mint", "v1")
    assert refused.returncode == 2
    assert "run `convex-evals validate` first" in refused.stderr
    part = convex_evals("benchmark", "mint", "v1", "-c", "basics", "--filter", "^000.*[01]-hello$")
    assert "run `convex-evals validate -c basics -f '^000.*[01]-hello$'` first" in part.stderr
    unknown = convex_evals("benchmark", "show", "v9").stderr
    assert "no benchmark version 'v9'; `convex-evals benchmark mint v9` makes it." in unknown


def test_without_a_version_complete_runs_that_were_graded_alike_are_compared(
    convex_evals: Command, hello_suite: HelloSuite
) -> None:
    hello_suite(2, wrong=(1,))
    assert convex_evals("validate").returncode == 1
    nothing = convex_evals("leaderboard")
    assert nothing.returncode == 2
    assert "no benchmark version is minted, and no complete run could stand in for one" in nothing.stderr
    assert convex_evals("run", "-m", "reference").returncode == 0
    shown = convex_evals("leaderboard").stdout
    assert "benchmark current · 2 evals" in shown
    assert "No benchmark version is minted" in shown
    assert "50.0%" in shown
    assert json.loads(convex_evals("leaderboard", "--json").stdout)["benchmark"]["minted"] is False
    assert convex_evals("run", "-m", "empty", "--limit", "1").returncode == 0
    assert "of empty: other evals: 1 of 2 is the same as in the ranked runs" in convex_evals("leaderboard").stdout


def test_a_part_of_the_suite_can_be_a_version(convex_evals: Command, minted: Path) -> None:
    made = convex_evals("benchmark", "mint", "small", "--filter", "00[01]-hello")
    assert made.stdout.startswith("Minted small: 2 evals")
    assert convex_evals("run", "-m", "reference").returncode == 0
    assert "of reference: other evals: 1 more than in small" in convex_evals("leaderboard").stdout
    assert convex_evals("benchmark", "mint", "none", "--filter", "nothing").returncode == 2


def test_a_changed_eval_is_another_version(convex_evals: Command, minted: Path) -> None:
    (minted / "000-basics/001-hello/TASK.txt").write_text("Say hello politely.\n")
    assert convex_evals("benchmark", "mint", "v2").returncode == 2
    assert convex_evals("validate").returncode == 0
    assert convex_evals("benchmark", "mint", "v2").returncode == 0
    assert [line.split(" · ")[0] for line in convex_evals("benchmark", "list").stdout.splitlines()] == ["v2", "v1"]
    changed = json.loads(convex_evals("benchmark", "diff", "v1", "v2", "--json").stdout)
    assert changed["taskChanged"] == ["000-basics/001-hello"]
    assert changed["same"] == ["000-basics/000-hello", "000-basics/002-hello"]
    lines = convex_evals("benchmark", "diff", "v1", "v2").stdout.splitlines()
    assert lines == ["task changed   000-basics/001-hello", "2 evals are the same in both and stay comparable"]


def test_an_experiment_that_is_neither_known_nor_recorded_is_refused(
    convex_evals: Command, minted: Path, tmp_path: Path
) -> None:
    refused = convex_evals("leaderboard", "-e", "terse")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("convex-evals: There is no experiment 'terse'; there are: default, no_guidelines,")
    assert convex_evals("leaderboard", "-e", "no_guidelines").returncode == 0
    configured = tmp_path / "experiments.toml"
    configured.write_text('[terse]\nguidelines = "none"\n')
    assert convex_evals("run", "-m", answers(tmp_path / "good", right=3), "-e", "terse").returncode == 0
    configured.unlink()
    assert "100.0%" in convex_evals("leaderboard", "-e", "terse").stdout


@pytest.mark.parametrize("name", ["", "V1", "v 1", "x" * 65])
def test_names_of_versions_are_plain(name: str, convex_evals: Command, minted: Path) -> None:
    refused = convex_evals("benchmark", "mint", name)
    assert refused.returncode == 2
    assert "named in small letters" in refused.stderr


def test_a_name_is_taken_once_and_unknown_ones_are_reported(convex_evals: Command, minted: Path) -> None:
    assert "already; choose another name" in convex_evals("benchmark", "mint", "v1").stderr
    assert "there are: v1." in convex_evals("leaderboard", "--benchmark", "v9").stderr
    shown = convex_evals("benchmark", "show", "v1").stdout
    assert "000-basics/002-hello" in shown
    assert json.loads(convex_evals("benchmark", "show", "v1", "--json").stdout)["evalCount"] == 3
