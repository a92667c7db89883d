"""Models that are asked over HTTP: what they are sent, what it costs, and that nothing is paid for twice."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.examples import exhaustively

from convex_evals.pipeline.grading.kit.assertions import wait_until

Asked = Any  # see conftest.py
Start = Callable[..., subprocess.Popen[str]]
MakeSuite = Callable[..., Path]
RULES = "# Rules\n\n## Politeness\n\nSay hello to the world.\n"


def statuses(result: dict[str, Any]) -> list[str]:
    return [each["status"] for each in result["evals"]]


def test_a_model_is_asked_and_graded_and_what_it_took_is_kept(asked: Asked) -> None:
    asked.price(1_000)
    result = asked.run()
    assert statuses(result) == ["passed"] * 3
    assert len(asked.server.requests) == 3
    run, first = result["run"], result["evals"][0]
    assert (run["model"], run["provider"], run["experiment"]) == ("local/tiny", "local", "default")
    assert first["usage"]["inputTokens"] == 11 and first["usage"]["outputTokens"] == 7
    assert first["cost"] == pytest.approx(0.018) and first["costSource"] == "estimated"
    assert (run["usage"]["asked"], run["usage"]["inputTokens"], run["usage"]["outputTokens"]) == (3, 33, 21)
    assert run["cost"] == pytest.approx(0.054) and run["costUnknown"] == 0
    shown = asked("show", run["id"]).stdout
    assert "\n33 tokens in, 21 out · cost $0.05 (estimated)\n" in shown
    assert "$0.05 (estimated)" in asked("status").stdout


def test_an_answer_that_is_cut_off_is_said_to_be_so_once_wherever_the_reason_is_told(asked: Asked) -> None:
    asked.server.script(asked.server.says("## hello.txt\n\n```\nhel", "length"))
    run = asked.run("--name", "000-hello")["run"]
    why = "The answer was cut off at the output limit before its first file was complete."
    shown = asked("show", run["id"], "000-hello").stdout
    assert shown.count(why) == 1 and shown.count("answer: cut off at the output limit") == 1
    assert "no files" not in shown and "ended with" not in shown
    again = asked("run", "--regrade", run["id"], "--name", "000-hello")
    assert why in again.stdout + again.stderr
    asked("analyze", run["id"], "--no-probe", "--engine", "rules")
    [report] = asked.folder.glob("reports/**/*.md")
    assert why in report.read_text() and "no files" not in report.read_text()


def test_an_unknown_cost_is_shown_as_unknown(asked: Asked) -> None:
    result = asked.run("--name", "000-hello")
    assert (result["run"]["cost"], result["run"]["costSource"], result["run"]["costUnknown"]) == (None, "unknown", 1)
    assert "11 tokens in, 7 out · cost unknown" in asked("show", result["run"]["id"]).stdout


def test_the_prompt_that_is_shown_is_what_was_sent(asked: Asked) -> None:
    run = asked.run("--name", "000-hello")["run"]
    [sent] = asked.server.requests
    shown = asked("show", run["id"], "000-hello", "--prompt").stdout
    system, _, user = shown.removeprefix("<!-- system -->\n").partition("<!-- user -->\n")
    said = {message["role"]: message["content"] for message in sent.body["messages"]}
    assert (said["system"], sent.prompt) == (system, user)
    assert "Convex guidelines" in user and user.endswith("\n# Task\n\nSay hello, number 000.\n")


def test_models_that_nobody_asks_have_a_task_and_no_prompt(asked: Asked) -> None:
    run = json.loads(asked("run", "-m", "reference", "--name", "000-hello", "--json", "-").stdout)["run"]
    shown = asked("show", run["id"], "000-hello", "--prompt")
    assert shown.stdout == "Say hello, number 000.\n"
    assert shown.stderr == "reference is not sent a prompt; this is the task.\n"
    assert run["fingerprints"]["prompt"] is None


def test_experiments_and_guidelines_decide_what_is_sent(asked: Asked) -> None:
    (asked.folder / "rules.md").write_text(RULES)
    runs = [
        asked.run("--name", "000-hello", *options)["run"]
        for options in ([], ["-e", "no_guidelines"], ["-e", "agents_md"], ["--guidelines", "rules.md"])
    ]
    names = ["default", "no_guidelines", "agents_md", "guidelines_rules"]
    assert [run["experiment"] for run in runs] == names
    assert len({run["fingerprints"]["prompt"] for run in runs}) == 4
    sent = [request.prompt for request in asked.server.requests]
    assert ["# Convex guidelines" in prompt for prompt in sent] == [True, False, False, True]
    assert ["AGENTS.md" in prompt for prompt in sent] == [False, False, True, False]
    assert ["Say hello to the world." in prompt for prompt in sent] == [False, False, False, True]


def test_the_same_question_is_paid_for_once(asked: Asked) -> None:
    twice = ("--name", "000-hello", "--trials", "2")
    asked.run(*twice)
    again = asked.run(*twice)
    assert len(asked.server.requests) == 2
    assert statuses(again) == ["passed"] * 2
    assert all(each["fromCache"] and each["cost"] is None for each in again["evals"])
    assert (again["run"]["usage"]["asked"], again["run"]["usage"]["fromCache"]) == (0, 2)
    assert "nothing was asked · 2 answers from the cache" in asked("show", again["run"]["id"]).stdout
    asked.run("--name", "000-hello", "--no-cache")
    assert len(asked.server.requests) == 3


def test_an_answer_that_was_cut_off_is_asked_for_again_next_time(asked: Asked) -> None:
    asked.server.script(asked.server.says(asked.right, "length"))
    asked.run("--name", "000-hello")
    assert statuses(asked.run("--name", "000-hello")) == ["passed"]
    assert len(asked.server.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "kept_then"),
    [((), (2,)), *exhaustively(((), (2, 4)), (("--no-cache",), (2, 4)))],
    ids=["once", "twice", "without the cache"],
)
def test_killed_in_the_middle_and_resumed_nothing_is_asked_twice(
    asked: Asked, started: Start, hello_suite: MakeSuite, options: tuple[str, ...], kept_then: tuple[int, ...]
) -> None:
    """Each time, two more answers arrive and then nothing does, until the process is killed."""
    asked.tell_apart(hello_suite(5))
    cache = asked.folder / "cache"
    answered: list[str] = []

    async def answers(question: Any) -> Any:
        answered.append(question.prompt)
        return await asked.server.says(asked.right)(question)

    command = ["run", "-m", "local/tiny", "--base-url", asked.server.url, "--jobs", "1", *options]
    for kept in kept_then:
        asked.server.script(answers, answers, *[asked.server.hangs()] * 5)
        process = started(*command, **asked.variables)
        wait_until(lambda kept=kept: len(list(cache.rglob("responses/*/*.json"))) == kept, seconds=200)
        process.send_signal(signal.SIGKILL)
        process.wait()
        asked.server.forget()
        run = json.loads(asked("status", "--json").stdout)["runs"][0]["id"]
        command = ["run", "--resume", run, "--jobs", "1"]
    asked.server.script(*[answers] * 5)
    finished = asked(*command, "--json", "-")
    assert finished.returncode == 0, finished.stderr
    assert statuses(json.loads(finished.stdout)) == ["passed"] * 5
    assert len(answered) == len(set(answered)) == 5


def test_a_budget_ends_the_asking_and_the_run_can_be_resumed(asked: Asked) -> None:
    asked.price(1_000)
    # About 8,700 tokens of prompt and 4,000 of answer are expected to cost some 13 dollars.
    asked.server.script(asked.server.says(asked.right, usage={"prompt_tokens": 9_000, "completion_tokens": 1_000}))
    ran = asked.start("--budget", "20")
    assert ran.returncode == 3
    assert len(asked.server.requests) == 1
    assert "It ended early. The budget of $20.00 has no room for another answer; $10.00 is spent.\n" in ran.stdout
    [run] = json.loads(asked("status", "--json").stdout)["runs"]
    assert (run["status"], run["passed"], run["canResume"]) == ("stopped", 1, True)
    resumed = asked("run", "--resume", run["id"])
    assert resumed.returncode == 0, resumed.stderr
    assert "3 of 3 passed" in resumed.stdout
    assert len(asked.server.requests) == 3


def test_a_budget_without_a_price_is_refused(asked: Asked) -> None:
    refused = asked.start("--budget", "1")
    assert refused.returncode == 2
    assert "--budget needs the price of local/tiny, which is not known; give it in ./models.toml" in refused.stderr
    assert not asked.server.requests


def test_answers_that_are_paid_for_and_of_no_use_count_in_the_budget_and_the_total(asked: Asked) -> None:
    asked.price(1_000)
    asked.server.script(
        *[asked.server.says("", "length", usage={"prompt_tokens": 9_000, "completion_tokens": 1_000})] * 2,
        asked.server.says(asked.right, usage={"prompt_tokens": 4_000, "completion_tokens": 1_000}),
    )
    ran = asked.start("--budget", "20")
    assert ran.returncode == 3 and len(asked.server.requests) == 3
    assert "has no room for another answer; $25.00 is spent.\n" in ran.stdout
    [run] = json.loads(asked("status", "--json").stdout)["runs"]
    assert (run["cost"], run["usage"]["outputTokens"], run["passed"]) == (pytest.approx(25), 3_000, 1)
    asked.server.script(*[asked.server.says("", "length")] * 3)
    resumed = asked("run", "--resume", run["id"], "--budget", "14")
    assert resumed.returncode == 3, resumed.stderr
    [run] = json.loads(asked("status", "--json").stdout)["runs"]
    assert (run["infrastructure"], run["usage"]["asked"]) == (1, 3)
    assert run["cost"] == pytest.approx(25 + 4 * 0.018)


def test_a_dry_run_says_what_asking_would_cost_and_how_that_is_known(asked: Asked) -> None:
    asked.price(1_000)
    before = asked.start("--dry-run")
    assert before.returncode == 0, before.stderr
    assert "local/tiny: 3 answers to ask for · about " in before.stdout
    assert "4 characters of a prompt are a token; answers of 4,000 tokens are assumed" in before.stdout
    assert not asked.server.requests
    asked.run("--name", "000-hello")
    estimate = json.loads(asked.start("--dry-run", "--json", "-").stdout)["estimates"][0]
    assert (estimate["asked"], estimate["fromCache"], estimate["outputTokens"]) == (2, 1, 14)
    assert estimate["outputBasis"] == {"tokens": 7, "generations": 1}
    assert estimate["cost"] == pytest.approx((estimate["inputTokens"] + 14) / 1_000)


def test_a_resumed_run_asks_as_it_did_and_says_when_it_cannot(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "rules.md"
    rules.write_text(RULES)
    asked.price(1_000)
    limits = {"prompt_tokens": 100_000, "completion_tokens": 1}
    asked.server.script(asked.server.says(asked.right, usage=limits))
    run = asked.run("--guidelines", "rules.md", "--budget", "6", code=3)["run"]["id"]
    rules.write_text(RULES.replace("world", "moon"))
    changed = asked("run", "--resume", run)
    assert changed.returncode == 2
    assert f"{rules} or another part of the prompt was changed since run {run[:8]} began" in changed.stderr
    rules.unlink()
    assert f"The guidelines {rules} cannot be read" in asked("run", "--resume", run).stderr
    rules.write_text(RULES)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    resumed = asked("run", "--resume", run, "--scores", "../scores/scores.db")
    assert resumed.returncode == 0, resumed.stderr
    assert all("Say hello to the world." in request.prompt for request in asked.server.requests)
    assert len(asked.server.requests) == 3
