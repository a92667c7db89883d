from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from convex_evals.schedule import Candidate, ModelRule, Rules, Spent, interval, plan, simulate

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WEEK = 7 * DAY
OLD = Candidate("openai/one", "default", known_since=NOW, last_run=NOW - 30 * DAY, margin=0.04, cost=0.0)


@pytest.mark.parametrize(
    ("changed", "days"),
    [
        ({}, 7),
        ({"known_since": NOW - 365 * DAY}, 28),
        ({"known_since": NOW - 4000 * DAY}, 28),
        ({"known_since": NOW + DAY}, 7),
        ({"known_since": None}, 7),
        ({"cost": 25.0}, 14),
        ({"cost": 5000.0}, 21),
        ({"cost": None}, 7),
        ({"margin": 0.1}, 3.5),
        ({"margin": 0.5}, 1.75),
        ({"margin": None}, 7),
        ({"known_since": NOW - 365 * DAY, "cost": 50.0, "margin": 0.1}, 42),
    ],
)
def test_the_interval_grows_with_age_and_cost_and_shrinks_with_uncertainty(
    changed: dict[str, object], days: float
) -> None:
    assert interval(replace(OLD, **changed), WEEK, NOW) / DAY == pytest.approx(days)


@pytest.mark.parametrize(
    ("candidate", "state", "why"),
    [
        (Candidate("a/b", "default"), "due", "never run"),
        (replace(OLD, last_run=NOW - 8 * DAY), "due", "every 7 days"),
        (replace(OLD, last_run=NOW - 6 * DAY), "waiting", "every 7 days"),
        (replace(OLD, last_run=NOW - 3 * DAY), "due", "a benchmark version was minted since its last run"),
        (replace(OLD, running=True), "running", "is running now"),
        (replace(OLD, unfinished="abcd"), "due", "was interrupted and is resumed"),
        (
            replace(OLD, failures=1, last_failure=NOW - timedelta(hours=5)),
            "waiting",
            "the last attempt failed; waits until it is worth another try",
        ),
        (replace(OLD, failures=1, last_failure=NOW - timedelta(hours=7)), "due", "every 7 days"),
        (
            replace(OLD, failures=3, last_failure=NOW - timedelta(hours=23)),
            "waiting",
            "the last 3 attempts failed; waits until it is worth another try",
        ),
        (replace(OLD, failures=3, last_failure=NOW - timedelta(hours=25)), "due", "every 7 days"),
        (replace(OLD, failures=60, last_failure=NOW - 8 * DAY), "due", "every 7 days"),
    ],
)
def test_a_turn_has_a_state_and_a_reason(candidate: Candidate, state: str, why: str) -> None:
    minted = NOW - 2 * DAY if candidate.last_run == NOW - 3 * DAY else None
    (turn,) = plan([candidate], Rules(), NOW, minted)
    assert (turn.state, turn.why) == (state, why)


def test_the_reason_names_every_factor_that_matters() -> None:
    (turn,) = plan([replace(OLD, known_since=NOW - 365 * DAY, margin=0.1, last_run=NOW)], Rules(), NOW)
    assert turn.why == "every 14 days (× 4.0 for its age, × 0.5 for how sure its score is)"
    assert turn.at == NOW + 14 * DAY


def test_interrupted_runs_come_first_then_models_that_were_never_run_then_those_that_waited_longest() -> None:
    candidates = [
        replace(OLD, model="m/late"),
        replace(OLD, model="m/later", last_run=NOW - 60 * DAY),
        Candidate("m/new", "default"),
        replace(OLD, model="m/cut", unfinished="abcd"),
    ]
    rules = Rules(runs_per_tick=9, budget_per_tick=100)
    assert [turn.candidate.model for turn in plan(candidates, rules, NOW)] == ["m/cut", "m/new", "m/later", "m/late"]


def states(rules: Rules, *costs: float | None, spent: float = 0.0) -> list[str]:
    candidates = [replace(OLD, model=f"m/{n}", cost=cost) for n, cost in enumerate(costs)]
    return [turn.state for turn in plan(candidates, rules, NOW, NOW, Spent(spent))]


def test_no_more_runs_begin_than_a_tick_may_have() -> None:
    assert states(Rules(runs_per_tick=2), 1.0, 1.0, 1.0) == ["due", "due", "queued"]


def test_a_tick_never_spends_more_than_its_budget_but_a_cheaper_model_may_still_fit() -> None:
    assert states(Rules(budget_per_tick=10), 8.0, 5.0, 2.0) == ["due", "queued", "due"]


def test_a_month_never_spends_more_than_its_budget() -> None:
    rules = Rules(budget_per_month=100)
    assert states(rules, 3.0, spent=96.0) == ["due"]
    assert states(rules, 3.0, spent=98.0) == ["queued"]


def test_an_unknown_cost_counts_as_much_as_the_rules_assume() -> None:
    assert states(Rules(budget_per_tick=10, assumed_cost=6), None, None) == ["due", "queued"]


def test_an_exception_of_the_rules_changes_the_interval_of_its_models_only() -> None:
    rules = Rules(exceptions=(ModelRule(("openai/*",), every=DAY),))
    ran = NOW - 2 * DAY
    one, other = replace(OLD, last_run=ran), replace(OLD, model="google/two", last_run=ran)
    assert {turn.candidate.model: turn.state for turn in plan([one, other], rules, NOW)} == {
        "openai/one": "due",
        "google/two": "waiting",
    }


START = datetime(2026, 11, 1, tzinfo=UTC)


def test_a_cheap_model_is_run_as_often_as_the_rules_say() -> None:
    runs = simulate([Candidate("a/b", "default", cost=0.0)], Rules(), START, 28)
    assert [run.at - START for run in runs] == [timedelta(days=7 * n) for n in range(4)]
    assert [run.why for run in runs][:2] == ["never run", "every 7 days"]


def test_a_month_of_simulated_runs_keeps_to_its_budget_and_the_next_month_starts_from_zero() -> None:
    models = [Candidate(f"a/{n}", "default", cost=10.0) for n in range(10)]
    rules = Rules(budget_per_month=30, runs_per_tick=10, budget_per_tick=100)
    runs = simulate(models, rules, START, 61, spent=Spent(10.0))
    by_month = [sum(run.cost for run in runs if run.at.month == month) for month in (11, 12)]
    assert by_month == [20.0, 30.0]
