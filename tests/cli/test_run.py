import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.models import find_model
from convex_evals.pipeline import GradingOptions
from convex_evals.runner import Request, plan_run
from convex_evals.scores import ScoresStore
from convex_evals.suite import load_suite

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeSuite = Callable[..., Path]


def result_of(command: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert command.returncode == 0, command.stderr
    parsed: dict[str, Any] = json.loads(command.stdout)
    return parsed


def verdicts(result: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(each["eval"][-9:], each["status"], each["failedStep"]) for each in result["evals"]]


def test_json_has_the_promised_shape(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(2, wrong=(1,))
    result = result_of(convex_evals("run", "-m", "reference", "--json", "-"))
    run = result["run"]
    assert (run["model"], run["provider"], run["experiment"], run["status"]) == (
        "reference",
        "built-in",
        "default",
        "completed",
    )
    assert (run["passed"], run["failed"], run["infrastructure"], run["total"]) == (1, 1, 0, 2)
    assert len(run["id"]) == 32
    assert set(run["fingerprints"]) == {"suite", "content", "grader", "pipeline", "toolchain", "prompt"}
    assert verdicts(result) == [("000-hello", "passed", None), ("001-hello", "failed", "tests")]
    failed = result["evals"][1]
    assert (failed["trial"], failed["tests"]) == (1, {"passed": 1, "total": 2})
    assert (failed["usage"], failed["cost"]) == (None, None)
    assert failed["durationMs"] > 0 and failed["cpuMs"] > 0
    assert [step["name"] for step in failed["steps"]] == ["filesystem", "install", "deploy", "tsc", "eslint", "tests"]
    tests = failed["steps"][-1]
    assert tests["status"] == "failed"
    assert "test_says_it_to_the_right_one" in tests["excerpt"]
    assert len(tests["log"]) > len(tests["excerpt"])
    assert tests["durationMs"] > 0 and tests["cpuMs"] >= 0


def test_users_get_a_line_per_eval_a_summary_and_what_to_do_next(
    convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path
) -> None:
    hello_suite(2, wrong=(1,))
    result = convex_evals("run", "--model", "reference", "--json", "result.json", "--jobs", "1")
    assert result.returncode == 0
    run = json.loads((tmp_path / "result.json").read_text())["run"]["id"][:8]
    lines = sorted(line.split("  ")[1:3] for line in result.stderr.splitlines())
    assert lines == [["failed", "000-basics/001-hello"], ["passed", "000-basics/000-hello"]]
    missed, headline, more, last = result.stdout.splitlines()
    assert headline.startswith(f"run {run} · reference · 1 of 2 passed, 1 failed · ")
    assert missed.startswith("  000-basics/001-hello  tests 1/2: ✗ test_says_it_to_the_right_one")
    assert more == f"`convex-evals show {run} 001-hello` shows everything about the first of them."
    assert last == f"`convex-evals analyze {run}` explains the failures; `convex-evals serve` shows them in a browser."


def test_several_models_each_get_a_run_and_empty_fails_everything(
    convex_evals: Command, hello_suite: MakeSuite
) -> None:
    hello_suite(2)
    result = result_of(convex_evals("run", "-m", "reference", "-m", "empty", "--trials", "2", "--json", "-"))
    assert [(each["run"]["model"], each["run"]["passed"], each["run"]["total"]) for each in result["runs"]] == [
        ("reference", 4, 4),
        ("empty", 0, 4),
    ]
    assert {each["failedStep"] for each in result["runs"][1]["evals"]} == {"filesystem"}
    assert [each["trial"] for each in result["runs"][0]["evals"]] == [1, 2, 1, 2]


def test_legacy_variables_work(convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path) -> None:
    hello_suite(3)
    variables = {
        "MODELS": "empty,reference",
        "TEST_FILTER": "00[12]-hello$",
        "EVALS_EXPERIMENT": "no_guidelines",
        "OUTPUT_TEMPDIR": str(tmp_path / "out"),
    }
    result = result_of(convex_evals("run", "--json", "-", "--keep", **variables))
    assert [(each["run"]["model"], each["run"]["experiment"]) for each in result["runs"]] == [
        ("empty", "no_guidelines"),
        ("reference", "no_guidelines"),
    ]
    assert [each["eval"][-9:] for each in result["runs"][0]["evals"]] == ["001-hello", "002-hello"]
    kept = {path.parts[-6:-1] for path in (tmp_path / "out").rglob("hello.txt")}
    assert (result["runs"][1]["run"]["id"][:8], "000-basics", "001-hello", "1-1", "project") in kept


def test_options_win_over_variables(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(3)
    variables = {"MODELS": "nonsense", "TEST_FILTER": "000-hello", "EVALS_EXPERIMENT": "e"}
    options = ["-m", "empty", "-f", "001-hello", "-e", "agents_md"]
    result = result_of(convex_evals("run", *options, "--json", "-", **variables))
    assert (result["run"]["model"], result["run"]["experiment"]) == ("empty", "agents_md")
    assert [each["eval"][-9:] for each in result["evals"]] == ["001-hello"]


def test_a_folder_of_answers_can_be_graded(convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path) -> None:
    hello_suite(3)
    for name, text in {"000-hello": "hello\n", "002-hello": "good-bye\n"}.items():
        folder = tmp_path / "answers" / "000-basics" / name
        folder.mkdir(parents=True)
        (folder / "hello.txt").write_text(text)
        (folder / "to.txt").write_text("world\n")
    ran = convex_evals("run", "-m", "replay:answers", "--json", "-")
    result = result_of(ran)
    assert result["run"]["model"] == f"replay:{tmp_path / 'answers'}"
    assert verdicts(result) == [("000-hello", "passed", None), ("002-hello", "failed", "tests")]
    assert "Skipped 1 eval that replay:" in ran.stderr


def test_only_what_failed_last_time_runs_again(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(3, wrong=(1,))
    convex_evals("run", "-m", "reference")
    hello_suite(3)
    again = result_of(convex_evals("run", "-m", "reference", "--failed", "--json", "-"))
    assert verdicts(again) == [("001-hello", "passed", None)]
    nothing = convex_evals("run", "-m", "reference", "--failed")
    assert nothing.returncode == 0
    assert "None of the selected evals failed when" in nothing.stderr


def test_runs_of_some_evals_and_checks_do_not_hide_what_failed(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(3, wrong=(1, 2))
    convex_evals("run", "-m", "reference")
    hello_suite(3, wrong=(2,))
    for command in (["run", "-m", "reference"], ["models", "check", "reference"], ["validate"]):
        convex_evals(*command, "--name", "000-hello")
    convex_evals("validate")
    again = result_of(convex_evals("run", "-m", "reference", "--failed", "--json", "-"))
    assert verdicts(again) == [("001-hello", "passed", None), ("002-hello", "failed", "tests")]
    still = result_of(convex_evals("run", "-m", "reference", "--failed", "--json", "-"))
    assert verdicts(still) == [("002-hello", "failed", "tests")]


def test_several_trials_are_summed_up_with_what_is_flaky(
    convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path
) -> None:
    hello_suite(3, wrong=(1,), flaky=(2,))
    options = ["--trials", "2", "--json", "result.json"]
    ran = convex_evals("run", "-m", "reference", *options)
    run = json.loads((tmp_path / "result.json").read_text())["run"]
    lines = ran.stdout.splitlines()
    assert lines[2].startswith(
        f"run {run['id'][:8]} · reference · 3 evals × 2 trials: 3 of 6 trials passed, 3 failed ·"
    )
    assert [line for line in lines if line.startswith(("pass@", "flaky"))] == [
        "pass@1 50.0% (0.0% to 100.0%) · pass@2 66.7% · pass^2 33.3% · 1 of 3 evals flaky",
        "flaky: 000-basics/002-hello",
    ]
    assert (run["score"]["value"], run["score"]["evals"], run["score"]["trials"]) == (0.5, 3, 6)
    assert run["repeats"]["flaky"] == ["000-basics/002-hello"]
    assert convex_evals("show", run["id"][:8]).stdout.splitlines()[-2:] == lines[3:5]


def test_stored_answers_are_graded_again_and_what_changed_is_shown(
    convex_evals: Command, hello_suite: MakeSuite
) -> None:
    suite = hello_suite(3, wrong=(1,))
    first = result_of(convex_evals("run", "-m", "reference", "--json", "-"))["run"]
    grader = suite / "000-basics" / "001-hello" / "grader.py"
    grader.write_text(grader.read_text().replace("world", "nobody"))
    ran = convex_evals("run", "--regrade", first["id"][:8], "--json", "-")
    again = result_of(ran)["run"]
    assert (again["model"], again["passed"], again["labels"]) == ("reference", 3, ["regrade"])
    assert again["fingerprints"]["content"] == first["fingerprints"]["content"]
    assert again["fingerprints"]["grader"] != first["fingerprints"]["grader"]
    assert ran.stderr.splitlines()[-3:] == [
        "What grading again changed:",
        "  better  000-basics/001-hello  failed at tests → passed",
        "1 eval changed, 2 did not",
    ]
    replayed = result_of(convex_evals("run", "-m", f"replay:{first['id'][:8]}", "--json", "-"))
    assert (replayed["run"]["model"], replayed["run"]["passed"]) == (f"replay:{first['id']}", 3)


def test_a_dry_run_lists_what_would_be_done_and_changes_nothing(
    convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path
) -> None:
    hello_suite(2)
    result = convex_evals("run", "-m", "reference", "-m", "empty", "--dry-run", "--name", "001-hello")
    assert result.returncode == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["model", "eval", "trial", "pipeline", "what", "would", "be", "done"],
        ["reference", "000-basics/001-hello", "1", "static", "ask", "and", "grade"],
        ["empty", "000-basics/001-hello", "1", "static", "ask", "and", "grade"],
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["evals"]


def test_nothing_temporary_is_left(convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path) -> None:
    hello_suite(1)
    (tmp_path / "out").mkdir()
    assert convex_evals("run", "-m", "reference", OUTPUT_TEMPDIR=str(tmp_path / "out")).returncode == 0
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "No model was named; add --model, for example --model reference, or set MODELS."),
        (["-m", "claude-9"], "There is no model 'claude-9'; `convex-evals models` lists them."),
        (["-m", "opnai/gpt-5.2"], "There is no model 'opnai/gpt-5.2': its provider must be one of openai,"),
        (["-m", "empty", "-e", "mine"], "There is no experiment 'mine'; there are: default, no_guidelines,"),
        (["-m", "empty", "--guidelines", "no.md"], "The guidelines "),
        (["-m", "empty", "--base-url", "http://x/v1"], "--base-url says where local/NAME is served, and no such"),
        (["-m", "local/x", "--base-url", "ftp://x"], "--base-url must be a URL such as http://127.0.0.1:8080/v1,"),
        (["-m", "local/x", "--base-url", "http://u:p@x/v1"], "--base-url must not have a user or a password in it,"),
        (["--resume", "0a1b", "--guidelines", "g.md"], "--resume continues a run as it was planned; leave out --guid"),
        (["-m", "replay:no/such"], "'replay:no/such' must name a folder of answers or a run"),
        (["-m", "replay:0a1b2c3d"], "There is no run '0a1b2c3d' in these scores;"),
        (["-m", "empty", "--failed"], "--failed needs an earlier run of empty (default), and there is none."),
        (["-m", "empty", "-f", "nothing"], "No eval matches;"),
        (["-m", "empty", "--backend", "cloud"], "--backend must be embedded, official or the URL of a deployment,"),
        (["-m", "empty", "--backend", "http://127.0.0.1:1"], "--backend http://127.0.0.1:1 needs the deployment's"),
        (["-m", "empty", "--packages-before", "soon"], "--packages-before must be a day like 2026-11-01, but it is"),
        (["-m", "empty", "--answer-files", ","], "--answer-files must be globs separated by commas,"),
        (["-m", "empty", "--linter", "tslint"], "--linter must be oxlint or eslint, but it is 'tslint'"),
        (["--resume", "0a1b", "-m", "empty"], "--resume continues a run as it was planned; leave out --model."),
        (["--regrade", "0a1b", "--failed"], "--regrade grades the answers that a run has stored; leave out --failed."),
        (["--resume", "0a1b2c"], "There is no run '0a1b2c' in these scores;"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    convex_evals: Command, hello_suite: MakeSuite, arguments: list[str], sentence: str
) -> None:
    hello_suite(1)
    result = convex_evals("run", *arguments)
    assert result.returncode == 2
    assert not result.stdout
    assert result.stderr.startswith(f"convex-evals: {sentence}")
    assert result.stderr.count("\n") == 1


def test_a_run_that_was_begun_with_other_tools_is_not_resumed(
    convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path
) -> None:
    suite = load_suite(hello_suite(1))
    with ScoresStore.open(tmp_path / "scores" / "scores.db") as store:
        request = Request(suite, suite.evals, GradingOptions().completed(suite.settings))
        run = plan_run(find_model("reference", store), request).begin(store, "older tools").id
    resumed = convex_evals("run", "--resume", run)
    assert (resumed.returncode, resumed.stdout) == (2, "")
    assert f"changed since run {run[:8]} began, so it cannot be resumed; start a new one" in resumed.stderr
    assert json.loads(convex_evals("status", "--json").stdout)["runs"][0]["condition"] == "interrupted"


def test_a_run_that_has_verdicts_on_everything_cannot_be_resumed_into_anything_else(
    convex_evals: Command, hello_suite: MakeSuite, tmp_path: Path
) -> None:
    hello_suite(1)
    run = result_of(convex_evals("run", "-m", "reference", "--json", "-"))["run"]["id"]
    before = written(tmp_path)
    resumed = convex_evals("run", "--resume", run[:8])
    assert resumed.returncode == 0
    assert "has a verdict; nothing to resume" in resumed.stderr
    assert "1 of 1 passed" in resumed.stdout
    assert written(tmp_path) == before


def written(folder: Path) -> dict[str, bytes]:
    """The scores, byte by byte."""
    return {path.name: path.read_bytes() for path in (folder / "scores").iterdir() if path.is_file()}


def test_recorded_answers_are_run_as_the_experiment_that_they_were_made_with(
    convex_evals: Command, hello_suite: MakeSuite
) -> None:
    hello_suite(1)
    models = ("-m", "sample/blind-3", "-m", "blind-1")
    assert convex_evals("run", *models).returncode == 3  # there is no recording of this eval
    runs = json.loads(convex_evals("status", "--json").stdout)["runs"]
    assert {each["model"]: each["experiment"] for each in runs} == {
        "sample/blind-1": "default",
        "sample/blind-3": "no_guidelines",
    }
    refused = convex_evals("run", *models, "-e", "no_guidelines")
    assert refused.returncode == 2
    assert refused.stderr == (
        "convex-evals: The answers of sample/blind-1 were made with the experiment default, "
        "so they cannot be run with no_guidelines.\n"
    )
