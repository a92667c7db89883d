"""`run --until-sure`, with answers of models that are stored, or that a server here gives."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
MakeSuite = Callable[..., Path]
Asked = Any  # see conftest.py


@pytest.fixture
def answers(tmp_path: Path) -> Callable[..., str]:
    """A model whose answers are a folder: right for all evals but those that are named."""

    def answers(name: str, count: int, wrong: tuple[int, ...] = ()) -> str:
        for number in range(count):
            folder = tmp_path / name / "000-basics" / f"{number:03}-hello"
            folder.mkdir(parents=True)
            (folder / "hello.txt").write_text("hello\n")
            (folder / "to.txt").write_text("nobody\n" if number in wrong else "world\n")
        return f"replay:{name}"

    return answers


def decided(command: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert command.returncode == 0, command.stderr
    parsed: dict[str, Any] = json.loads(command.stdout)
    return parsed


def test_a_clear_difference_takes_one_trial(
    convex_evals: Command, hello_suite: MakeSuite, answers: Callable[..., str]
) -> None:
    hello_suite(9)
    good, bad = answers("good", 9), answers("bad", 9, wrong=tuple(range(9)))
    ran = convex_evals("run", "-m", bad, "-m", good, "--until-sure", "--json", "-")
    found = decided(ran)
    assert [run["run"]["total"] for run in found["runs"]] == [9, 9]
    sure = found["untilSure"]
    assert (sure["looks"], sure["mostLooks"], sure["stopped"]) == (1, 5, "every comparison is decided")
    [compared] = sure["comparisons"]
    assert (compared["verdict"], compared["decidedAtLook"], compared["pCorrected"]) == ("better", 1, 2 / 2**9)
    lines = ran.stderr.splitlines()[-3:]
    assert lines[0].endswith("+100.0 (+100.0 to +100.0)  p = 0.00391  better, decided at look 1")
    assert lines[1:] == [
        "stopped after 1 look: every comparison is decided",
        "decided at p below 1.00% (5% shared by 5 looks), p corrected for pairs (Holm)",
    ]


def test_what_never_varies_is_given_up_when_trials_cannot_help(
    convex_evals: Command, hello_suite: MakeSuite, answers: Callable[..., str]
) -> None:
    hello_suite(3)
    good, bad = answers("good", 3), answers("bad", 3, wrong=(1,))
    ran = convex_evals("run", "-m", good, "-m", bad, "--until-sure", "--json", "-")
    found = decided(ran)
    assert "Look 1 of 5: 0 of 1 comparison decided; 6 more trials of 3 evals." in ran.stderr
    assert [run["run"]["total"] for run in found["runs"]] == [6, 6]
    assert "3 evals, 6 trials: 6 of 6 trials passed" in ran.stderr
    assert found["untilSure"]["stopped"] == "no number of trials would decide the rest; it takes more evals"
    assert found["untilSure"]["comparisons"][0]["verdict"] == "cannot tell"
    run = found["runs"][0]["run"]
    assert (run["score"]["trials"], run["status"]) == (3, "completed")
    shown = convex_evals("show", run["id"][:8])
    assert shown.stdout.count("000-basics/001-hello") == 2
    resumed = convex_evals("run", "--resume", run["id"][:8])
    assert "nothing to resume" in resumed.stderr


def answer_one_rightly_every_other_time(asked: Asked) -> dict[str, int]:
    """How often each eval was asked: the last is answered rightly the first and third time, the others always."""
    tries: dict[str, int] = {}

    def answer(question: Any) -> str:
        key = next(number for number in ("000", "001", "002") if f"number {number}" in question.prompt)
        tries[key] = tries.get(key, 0) + 1
        right = key != "002" or tries[key] % 2 == 1
        return asked.right if right else "I would rather not."

    asked.server.answer = answer
    return tries


def test_trials_go_to_evals_that_are_not_settled(asked: Asked) -> None:
    """The model is compared with a run that passed all."""
    tries = answer_one_rightly_every_other_time(asked)
    before = json.loads(asked("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    options = ("--until-sure", "--against", before[:8], "--trials", "4")
    found = asked.run(*options)
    assert tries == {"000": 2, "001": 2, "002": 4}
    assert found["untilSure"]["against"] == before
    assert found["untilSure"]["stopped"] == "every eval that mattered had 4 trials, the most that were asked for"
    assert found["run"]["flaky"] == ["000-basics/002-hello"]


def test_trials_that_were_added_bend_no_score(asked: Asked) -> None:
    """They went to the eval that failed once, in the second trial, so with them the model would look worse."""
    answer_one_rightly_every_other_time(asked)
    before = json.loads(asked("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    found = asked.run("--until-sure", "--against", before, "--trials", "4", "--fail-under", "0.9")["run"]
    assert (found["passed"], found["failed"], found["score"]["value"]) == (6, 2, 1.0)
    compared = json.loads(asked("compare", before, found["id"], "--json").stdout)
    assert (compared["after"]["passRate"], compared["statistics"]["difference"]) == (1.0, 0.0)
    assert compared["changes"] == {"same": 3}


def test_a_dry_run_says_that_more_may_follow(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(1)
    result = convex_evals("run", "-m", "reference", "-m", "empty", "--until-sure", "--trials", "3", "--dry-run")
    assert result.returncode == 0
    assert result.stderr == "That is the first of at most 3 trials; only undecided ones follow.\n"
    assert len(result.stdout.splitlines()) == 3


def test_it_stops_before_a_round_that_the_budget_does_not_cover(asked: Asked) -> None:
    asked.price(1_000)
    asked.server.answer = lambda question: asked.right if "number 000" in question.prompt else "I would rather not."
    before = json.loads(asked("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    estimated = json.loads(asked.start("--dry-run", "--json", "-").stdout)["estimates"][0]["cost"]
    # Answers turn out much cheaper than was expected, so the first three fit in; three more would not.
    found = asked.run("--until-sure", "--against", before[:8], "--budget", str(estimated * 0.7))
    assert found["untilSure"]["looks"] == 1
    assert "of the budget is left" in found["untilSure"]["stopped"]
    assert (found["run"]["total"], found["run"]["status"]) == (3, "completed")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-m", "empty", "--until-sure"], "--until-sure needs something to compare: name two models, or a run with"),
        (["-m", "empty", "--against", "0a1b"], "--against says which run --until-sure compares with; add --until-sure"),
        (["-m", "empty", "-m", "reference", "--until-sure", "--trials", "1"], "--until-sure adds trials, so --trials"),
        (["-m", "empty", "--until-sure", "--against", "0a1b2c3d"], "There is no run '0a1b2c3d' in these scores;"),
        (["--resume", "0a1b", "--until-sure"], "--resume continues a run as it was planned; leave out --until-sure."),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    convex_evals: Command, hello_suite: MakeSuite, arguments: list[str], sentence: str
) -> None:
    hello_suite(1)
    result = convex_evals("run", *arguments)
    assert result.returncode == 2
    assert result.stderr.startswith(f"convex-evals: {sentence}")
    assert result.stderr.count("\n") == 1


def test_a_run_of_other_evals_cannot_be_compared_with(convex_evals: Command, hello_suite: MakeSuite) -> None:
    hello_suite(2)
    run = decided(convex_evals("run", "-m", "empty", "--name", "000-hello", "--json", "-"))["run"]["id"]
    result = convex_evals("run", "-m", "reference", "--name", "001-hello", "--until-sure", "--against", run[:8])
    assert result.returncode == 2
    assert f"Run {run[:8]} has no eval in common with what would be run" in result.stderr
