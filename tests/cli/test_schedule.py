"""`convex-evals schedule`: what is due is shown with a reason, run once, resumed, and kept within the budget."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from convex_evals.scores import PlannedEval, RunPlan, ScoresStore

Asked = Any  # see conftest.py
MODELS = '[[model]]\nslug = "local/tiny"\nbase_url = "{url}"\nprice = {{ input = 1, output = 1 }}\n'
ONLY_TINY = '[schedule]\nmodels = ["local/*"]\n'


@pytest.fixture
def scheduled(asked: Asked) -> Asked:
    """A folder whose schedule has one model, which a server on this machine answers for."""
    (asked.folder / "models.toml").write_text(MODELS.format(url=asked.server.url))
    (asked.folder / "convex-evals.toml").write_text(ONLY_TINY)
    return asked


def turns(scheduled: Asked) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(scheduled("schedule", "--json").stdout)["turns"]
    return found


def test_a_model_that_was_never_run_is_due_and_waits_after_its_run(scheduled: Asked) -> None:
    assert [(turn["model"], turn["state"], turn["why"]) for turn in turns(scheduled)] == [
        ("local/tiny", "due", "never run")
    ]
    result = scheduled("schedule", "run")
    assert result.returncode == 0, result.stderr
    assert "local/tiny (default): never run" in result.stdout and "3 of 3 passed" in result.stdout
    (turn,) = turns(scheduled)
    assert turn["state"] == "waiting" and turn["why"].startswith("every ")
    assert turn["expectedCost"] == pytest.approx(3 * 18e-6)
    assert scheduled("schedule", "run").stdout.endswith("0 runs due\n")
    assert len(scheduled.server.requests) == 3


def test_a_scheduled_run_that_was_interrupted_is_resumed_and_asks_for_nothing_twice(scheduled: Asked) -> None:
    scheduled("schedule", "run")
    with ScoresStore.open(scheduled.folder / "scores/scores.db") as store:
        (run,) = store.runs()
        assert run.labels == ("scheduled",)
        planned, options = store.planned(run.id), dict(run.options)
        plan = RunPlan(run.model, run.provider, run.experiment, planned, 1, run.fingerprints, options, run.labels)
        rest = store.create_run(plan)
        store.finish_run(rest, "stopped", "interrupted")
    (turn,) = turns(scheduled)
    assert (turn["state"], turn["resumes"], turn["why"]) == ("due", rest, "was interrupted and is resumed")
    result = scheduled("schedule", "run")
    assert result.returncode == 0, result.stderr
    with ScoresStore.open(scheduled.folder / "scores/scores.db") as store:
        assert store.find_run(rest).is_complete and len(store.runs()) == 2


def test_a_run_whose_suite_was_changed_is_not_resumed_but_has_failed(scheduled: Asked) -> None:
    scheduled.server.script(scheduled.server.refuses(400, "no"))
    scheduled("run", "-m", "local/tiny")
    with ScoresStore.open(scheduled.folder / "scores/scores.db") as store:
        (run,) = store.runs()
        plan = RunPlan(run.model, run.provider, run.experiment, store.planned(run.id), 1, run.fingerprints, run.options)
        store.finish_run(store.create_run(replace(plan, labels=("scheduled",))), "stopped", "interrupted")
    assert turns(scheduled)[0]["why"] == "was interrupted and is resumed"
    (scheduled.folder / "evals/000-basics/000-hello/TASK.txt").write_text("Say hello to everyone.\n")
    (turn,) = turns(scheduled)
    assert (turn["state"], turn["resumes"]) == ("waiting", None) and turn["why"].startswith("the last attempt failed")


def test_a_run_that_ended_without_every_verdict_is_not_resumed_but_has_failed(scheduled: Asked) -> None:
    scheduled.server.script(scheduled.server.refuses(400, "no"))
    assert scheduled("schedule", "run").returncode == 3
    (turn,) = turns(scheduled)
    assert (turn["state"], turn["resumes"]) == ("waiting", None) and turn["why"].startswith("the last attempt failed")


def test_a_model_whose_runs_fail_cools_down(scheduled: Asked) -> None:
    with ScoresStore.open(scheduled.folder / "scores/scores.db") as store:
        run = store.create_run(RunPlan("local/tiny", "local", "default", (PlannedEval("a/b"),)))
        store.finish_run(run, "failed", "the provider went away")
    (turn,) = turns(scheduled)
    assert turn["state"] == "waiting" and turn["why"].startswith("the last attempt failed")


def test_a_second_schedule_run_leaves_the_work_to_the_first(scheduled: Asked) -> None:
    with ScoresStore.open(scheduled.folder / "scores/scores.db") as store, store.hold_run("schedule"):
        result = scheduled("schedule", "run")
    assert result.returncode == 0 and "schedule run` is working on these scores" in result.stderr
    assert scheduled.server.requests == []


def test_a_run_that_does_not_fit_into_the_budget_is_not_begun(scheduled: Asked) -> None:
    (scheduled.folder / "convex-evals.toml").write_text(ONLY_TINY + "budget_per_month = 1\n")
    (turn,) = turns(scheduled)
    assert turn["state"] == "queued" and "of this month's $1.00 is taken" in turn["why"]
    assert scheduled("schedule", "run").stdout.endswith("0 runs due\n")


def test_each_run_has_what_is_left_of_the_budgets_and_no_more(scheduled: Asked) -> None:
    models = MODELS.format(url=scheduled.server.url).replace("= 1,", "= 1000,").replace("= 1 ", "= 1000 ")
    (scheduled.folder / "models.toml").write_text(models + models.replace("tiny", "twin"))
    (scheduled.folder / "convex-evals.toml").write_text(ONLY_TINY + "budget_per_tick = 20\n")
    # $10, so that the $13 or so that another answer is expected to cost fit into neither $20 nor what is left of them.
    server = scheduled.server
    server.script(server.says(scheduled.right, usage={"prompt_tokens": 9_000, "completion_tokens": 1_000}))
    result = scheduled("schedule", "run")
    assert "The budget of $20.00 has no room for another answer; $10.00 is spent." in result.stdout
    assert "The budget of $10.00 has no room for another answer; $0.00 is spent." in result.stdout
    assert result.returncode == 3 and len(server.requests) == 1
    assert json.loads(scheduled("schedule", "--json").stdout)["spentThisMonth"] == pytest.approx(10)


def test_a_model_without_a_key_is_left_out_and_named(asked: Asked) -> None:
    (asked.folder / "convex-evals.toml").write_text('[schedule]\nmodels = ["openai/gpt-5.2"]\n')
    result = asked("schedule", "run")
    assert "openai/gpt-5.2 is left out: there is no key for its provider." in result.stderr


def test_a_simulation_says_how_often_and_at_what_cost(scheduled: Asked) -> None:
    found = json.loads(scheduled("schedule", "simulate", "--days", "28", "--json").stdout)
    assert found["days"] == 28 and len(found["runs"]) == 4
    assert "4 runs in 28 days" in scheduled("schedule", "simulate", "--days", "28").stdout


def test_a_mistake_in_the_rules_is_one_sentence(convex_evals: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "convex-evals.toml").write_text("[schedule]\nevery = 'often'\n")
    result = convex_evals("schedule")
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "'often'" in result.stderr
