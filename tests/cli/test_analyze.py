import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
QUESTION = "Would you like me to implement any of these recommendations, or would you like to discuss"


@pytest.fixture
def failed_run(convex_evals: Command, hello_suite: Callable[..., Path]) -> str:
    """A real run with one failure of two."""
    hello_suite(2, wrong=(1,))
    convex_evals("run", "--model", "reference", "--evals", "evals", "--jobs", "1", "--json", "run.json")
    return ""


def run_id(folder: Path) -> str:
    return str(json.loads((folder / "run.json").read_text())["run"]["id"])


def test_a_run_is_analysed_and_the_report_ends_with_a_question(
    convex_evals: Command, failed_run: str, tmp_path: Path
) -> None:
    run = run_id(tmp_path)
    result = convex_evals("analyze", run[:8], "--no-probe", "--json", "analysis.json")
    assert result.returncode == 0, result.stderr
    assert QUESTION in result.stdout.splitlines()[-1]
    assert "1/1  " in result.stderr
    written = list((tmp_path / "reports/built-in/reference").glob(f"{run[:8]}_*.md"))
    assert len(written) == 1
    assert written[0].read_text().startswith("# Run Analysis Report: reference\n")
    content = json.loads((tmp_path / "analysis.json").read_text())
    assert content == json.loads(written[0].with_suffix(".json").read_text())
    assert [each["eval"] for each in content["failures"]] == ["000-basics/001-hello"]

    address = f"https://x.example/experiment/default/run/{run}/000-basics"
    again = convex_evals("analyze", "run", address, "--no-probe", "--engine", "rules", "--json", "-")
    assert json.loads(again.stdout)["run"]["id"] == run
    assert len(list(written[0].parent.iterdir())) == 2

    in_depth = convex_evals("analyze", "eval", run[:8], "001-hello", "--no-probe")
    assert in_depth.returncode == 0, in_depth.stderr
    assert "test_says_it_to_the_right_one" in in_depth.stdout

    labelled = convex_evals(
        "analyze", "label", run[:8], "001-hello", "OVERLY_STRICT", "--why", "Nobody said so.", "--author", "Ada"
    )
    assert labelled.returncode == 0, labelled.stderr
    recorded = convex_evals("analyze", "record-action", written[0], "The task says it.", "--evals", "001-hello")
    assert recorded.returncode == 0, recorded.stderr
    convex_evals("analyze", run[:8], "--no-probe")
    report = written[0].read_text()
    assert "OVERLY_STRICT by Ada" in report
    assert "The task says it. For: `000-basics/001-hello`." in report

    trends = convex_evals("analyze", "trends", "--model", "reference")
    assert "1 of 1" in trends.stdout
    assert "The task says it." in trends.stdout


def test_when_nothing_failed_that_is_said(
    convex_evals: Command, record_run: Callable[..., str], tmp_path: Path
) -> None:
    run = record_run({"000-a": "passed", "001-b": "infrastructure"})
    result = convex_evals("analyze", run)
    assert result.returncode == 0, result.stderr
    assert "Nothing failed: there is nothing to analyse." in result.stdout
    assert "1 result without verdict" in result.stdout
    assert QUESTION not in result.stdout
    report = next((tmp_path / "reports/test/tester").glob("*.md")).read_text()
    assert "Infrastructure failures (not classified)" in report


def test_a_label_is_by_whom_git_knows_unless_an_author_is_named(
    convex_evals: Command, record_run: Callable[..., str], tmp_path: Path
) -> None:
    home, label = tmp_path / "home", ("000-a", "KNOWN_GAP", "--why", "The platform lacks it.")
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Lovelace\n")
    run = record_run({"000-a": "failed"})
    assert "by Ada Lovelace," in convex_evals("analyze", "label", run, *label, HOME=str(home)).stdout
    assert "by Grace," in convex_evals("analyze", "label", run, *label, "--author", "Grace", HOME=str(home)).stdout
    without_git = convex_evals("analyze", "label", run, *label, HOME=str(home), PATH=str(home), LOGNAME="countess")
    assert "by countess," in without_git.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere1",), "nowhere1"),
        (("https://x.example/",), "names no run"),
        (("eval", "{run}", "000-a"), "only a failure can be analysed"),
        (("label", "{run}", "000-a", "KNOWN_GAP", "--why", "x"), "only failures have a class"),
        (("label", "{run}", "001-b", "KNOWN_GAP", "--why", " "), "--why must say why"),
        (("label", "{run}", "001-b", "OTHER", "--why", "x"), "OTHER"),
        (("record-action", "reports/none.md", "done"), "There is no report"),
        (("trends", "--model", "nobody"), "There is no report of 'nobody'"),
    ],
)
def test_a_mistake_is_one_sentence(
    convex_evals: Command, record_run: Callable[..., str], arguments: tuple[str, ...], said: str
) -> None:
    run = record_run({"000-a": "passed", "001-b": "failed"})
    result = convex_evals("analyze", *(each.replace("{run}", run) for each in arguments))
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_the_default_command_leaves_the_others_their_names(convex_evals: Command) -> None:
    result = convex_evals("analyze", "--help")
    assert result.returncode == 0
    for name in ("run", "eval", "label", "record-action", "trends"):
        assert f"\n  {name} " in result.stdout
    assert "RUN" in convex_evals("analyze", "run", "--help").stdout
