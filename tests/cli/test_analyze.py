import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from convex_evals.core.verdicts import CLASSES
from convex_evals.scores import ScoresStore

ROOT = Path(__file__).parents[2]
DOWN = "\x1b[B"
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
    assert QUESTION in result.stdout
    assert f"  convex-evals analyze eval {run[:8]} 001-hello" in result.stdout.splitlines()
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
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        assert [label.note for label in store.labels.of_run(run)] == ["Nobody said so."], "pages show it"
    recorded = convex_evals("analyze", "record-action", written[0], "The task says it.", "--evals", "001-hello")
    assert recorded.returncode == 0, recorded.stderr
    convex_evals("analyze", run[:8], "--no-probe")
    report = written[0].read_text()
    assert "OVERLY_STRICT by Ada" in report
    assert "The task says it. For: `000-basics/001-hello`." in report

    trends = convex_evals("analyze", "trends", "--model", "reference")
    assert "1 of 1" in trends.stdout
    assert "The task says it." in trends.stdout


def test_an_analyst_that_never_answers_is_named_and_the_rules_get_the_credit(
    convex_evals: Command, record_run: Callable[..., str], provider_server: Any
) -> None:
    run = record_run({"000-a": "failed", "001-b": "failed"})
    provider_server.script(*[provider_server.refuses(401)] * 2)
    options = ("--engine", "both", "--analyst", "local/x", "--base-url", provider_server.url)
    result = convex_evals("analyze", run, "--no-probe", "--json", "-", *options)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["engine"] == "rules"
    assert "to be classified by rules and the analyst local/x" in result.stderr.splitlines()[0]
    [warning] = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
    assert warning.startswith("Warning: the analyst local/x did not classify 2 of 2 failures, so rules did: ")
    assert "401" in warning


def test_an_analyst_that_answers_is_in_the_report(
    convex_evals: Command, record_run: Callable[..., str], provider_server: Any
) -> None:
    run = record_run({"000-a": "failed"})
    said = {
        "fault": "model",
        "documented": False,
        "confidence": 0.9,
        "decidedBy": "it",
        "summary": "s",
        "reasoning": "r",
    }
    provider_server.script(*[provider_server.says(json.dumps(said))] * 2)
    options = ("--engine", "both", "--analyst", "local/x", "--base-url", provider_server.url)
    result = convex_evals("analyze", run, "--no-probe", "--json", "-", *options)
    assert json.loads(result.stdout)["engine"] == "both"
    assert "Warning" not in result.stderr


def test_nobody_is_asked_to_implement_what_is_not_recommended(
    convex_evals: Command, record_run: Callable[..., str]
) -> None:
    result = convex_evals("analyze", record_run({"000-a": "failed"}), "--no-probe", "--engine", "rules")
    assert "Would you like to discuss specific failures in more detail?" in result.stdout
    assert "implement" not in result.stdout and "analyze apply" not in result.stdout


def test_the_report_says_when_nothing_failed(
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


def test_a_label_is_by_the_git_user_unless_an_author_is_named(
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


@pytest.fixture
def unfair_report(convex_evals: Command, failed_run: str, hello_suite: Callable[..., Path], tmp_path: Path) -> Path:
    """A report on a failure that a person says is unfair. The reference answer has been corrected since."""
    hello_suite(2)
    run = run_id(tmp_path)[:8]
    convex_evals("analyze", "label", run, "001-hello", "OVERLY_STRICT", "--why", "Nobody said so.", "--author", "Ada")
    convex_evals("analyze", run, "--no-probe", "--engine", "rules")
    return next((tmp_path / "reports").rglob("*.md"))


def test_a_recommendation_is_applied_after_a_yes_and_tried(
    convex_evals: Command, unfair_report: Path, tmp_path: Path
) -> None:
    gaps = tmp_path / "evals/000-basics/001-hello/GAPS.txt"
    asked = convex_evals("analyze", "apply", unfair_report, "R2")
    assert asked.returncode == 2
    assert "+- [check]" in asked.stdout
    assert "repeat with --yes" in asked.stderr
    assert not gaps.exists()

    applied = convex_evals("analyze", "apply", unfair_report, "R2", "--yes", "--jobs", "1", "--author", "Ada")
    assert applied.returncode == 0, applied.stderr
    assert gaps.read_text().startswith("- [check]")
    assert "1 of 1" in applied.stdout or "1/1" in applied.stdout, "the reference answer and the controls were graded"
    assert "score with it" in applied.stderr
    assert "R2: note a gap in GAPS.txt" in unfair_report.read_text()


def test_a_change_that_breaks_the_eval_is_taken_back(
    convex_evals: Command, unfair_report: Path, hello_suite: Callable[..., Path], tmp_path: Path
) -> None:
    task = tmp_path / "evals/000-basics/001-hello/TASK.txt"
    hello_suite(2, wrong=(1,))
    applied = convex_evals("analyze", "apply", unfair_report, "R1", "--text", "To whom?", "--yes", "--jobs", "1")
    assert applied.returncode == 1, applied.stderr
    assert "was undone: the reference answer does not pass with it" in applied.stdout
    assert task.read_text() == "Say hello.\n"
    assert "R1:" not in unfair_report.read_text().partition("## Actions taken")[2]


@pytest.mark.parametrize(("code", "reason"), [(130, "it was interrupted"), (3, "there is no verdict on it")])
@pytest.mark.parametrize("command", ["runs.command", "controls"])
def test_a_change_that_could_not_be_tried_is_taken_back_and_is_not_called_wrong(
    convex_evals: Command,
    unfair_report: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    code: int,
    reason: str,
) -> None:
    """The command that tries it ends as it does after Ctrl-C, or without a network, which are not to be had in time."""
    monkeypatch.setattr(f"convex_evals.cli.{command}.perform", lambda asked: code)
    applied = convex_evals("analyze", "apply", unfair_report, "R2", "--yes", "--jobs", "1")
    assert applied.returncode == code
    assert f"was undone: {reason}." in applied.stdout
    assert not (tmp_path / "evals/000-basics/001-hello/GAPS.txt").exists()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Callable[[str], "pexpect.spawn[str]"]]:
    """Somebody who types `analyze RUN` on a terminal, and stands before the question."""
    started: list[pexpect.spawn[str]] = []

    def person(run: str) -> "pexpect.spawn[str]":
        program = Path(sys.executable).parent / "convex-evals"
        arguments = ["analyze", run, "--no-probe", "--engine", "rules"]
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "160", "LINES": "50"}
        started.append(
            pexpect.spawn(
                str(program),
                arguments,
                cwd=tmp_path,
                env=environment,
                encoding="utf-8",
                timeout=120,
                dimensions=(50, 160),
            )
        )
        before_the_question(started[-1])
        return started[-1]

    yield person
    for each in started:
        each.close(force=True)


def before_the_question(person: "pexpect.spawn[str]") -> None:
    between = r"(?:\s|\x1b\[[0-9;?]*[A-Za-z])+"  # the line may be broken anywhere
    person.expect(between.join(["discuss", "specific", "failures", "in", "more", r"detail\?"]))
    person.expect_exact("Leave")


def choose(person: "pexpect.spawn[str]", number: int) -> None:
    """The first is 0."""
    person.send(DOWN * number + "\r")


def leave(person: "pexpect.spawn[str]") -> None:
    choose(person, 4)
    person.expect(pexpect.EOF)
    person.close()
    assert person.exitstatus == 0


def test_in_the_conversation_a_recommendation_is_implemented_after_a_yes_and_a_failure_is_shown_and_labelled(
    person: Callable[[str], "pexpect.spawn[str]"], unfair_report: Path, tmp_path: Path
) -> None:
    run = run_id(tmp_path)
    task = tmp_path / "evals/000-basics/001-hello/TASK.txt"
    asked = person(run[:8])
    for answer in ("n", "y"):
        choose(asked, 0)
        asked.expect_exact("Which?")
        choose(asked, 0)
        asked.expect_exact("What shall it say?")
        asked.send("Say it to the world.\r")
        asked.expect_exact("+Say it to the world.")
        asked.expect_exact("Make this change")
        assert task.read_text() == "Say hello.\n", "nothing is changed before the yes"
        asked.send(f"{answer}\r")
        asked.expect_exact("Nothing was changed." if answer == "n" else "Recorded in")
        before_the_question(asked)
    choose(asked, 0)
    asked.expect_exact("(made)")
    asked.expect_exact("Back")
    choose(asked, 1)
    before_the_question(asked)
    choose(asked, 1)
    asked.expect_exact("Which failure?")
    choose(asked, 0)
    asked.expect_exact("Complaints")
    before_the_question(asked)
    choose(asked, 2)
    asked.expect_exact("Which failure?")
    choose(asked, 0)
    asked.expect_exact("What is it?")
    choose(asked, CLASSES.index("AMBIGUOUS_TASK"))
    asked.expect_exact("Why?")
    asked.send("\r")
    asked.expect_exact("Write a sentence.")
    asked.send("The task does not say to whom.\r")
    before_the_question(asked)
    choose(asked, 3)
    asked.expect_exact("What was changed, and where?")
    asked.send("The task says to whom.\r")
    before_the_question(asked)
    leave(asked)
    assert task.read_text() == "Say hello.\n\nSay it to the world.\n"
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        labels = {label.failure_class: label.note for label in store.labels.of_run(run)}
    assert labels["AMBIGUOUS_TASK"] == "The task does not say to whom."
    report = unfair_report.read_text()
    assert "R1: add a sentence to TASK.txt" in report
    assert "The task says to whom." in report.partition("## Actions taken")[2]


@pytest.mark.exhaustive
def test_a_lint_rule_that_is_not_counted_any_more_changes_the_verdict(convex_evals: Command, tmp_path: Path) -> None:
    """The whole way with a real project: graded, labelled, applied, validated, checked and graded again."""
    eval = Path("000-fundamentals/000-empty_functions")
    shutil.copytree(ROOT / "evals" / eval, tmp_path / "evals" / eval)
    answer = Path(shutil.copytree(ROOT / "evals" / eval / "answer", tmp_path / "answers" / eval))
    with (answer / "convex" / "index.ts").open("a") as file:
        file.write("\nexport function unused(): void {\n  debugger;\n}\n")
    ran = convex_evals("run", "-m", "replay:answers", "--evals", "evals", "--jobs", "1", "--json", "run.json")
    assert "eslint" in ran.stdout, ran.stdout + ran.stderr
    run = run_id(tmp_path)[:8]
    convex_evals("analyze", "label", run, "000-empty_functions", "OVERLY_STRICT", "--why", "Taste.", "--author", "Ada")
    convex_evals("analyze", run, "--no-probe", "--engine", "rules")
    report = next((tmp_path / "reports").rglob("*.md"))

    applied = convex_evals("analyze", "apply", report, "R1", "--yes", "--jobs", "1", "--author", "Ada")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    assert '+    "no-debugger"' in applied.stdout
    assert json.loads((tmp_path / "evals" / eval / "eval.json").read_text()) == {"lintOff": ["no-debugger"]}
    assert "1 of 1 passed" in applied.stdout.rpartition("score with it")[2], "the stored answer passes now"
    assert "R1: do not count a lint rule" in report.read_text()
