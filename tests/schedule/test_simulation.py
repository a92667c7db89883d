from datetime import UTC, datetime, timedelta

from convex_evals.schedule import Candidate, Rules, Spent, simulate

START = datetime(2026, 11, 1, tzinfo=UTC)


def test_a_cheap_model_is_run_as_often_as_the_rules_say() -> None:
    runs = simulate([Candidate("a/b", "default", cost=0.0)], Rules(), START, 28)
    assert [run.at - START for run in runs] == [timedelta(days=7 * n) for n in range(4)]
    assert [run.why for run in runs][:2] == ["never run", "every 7 days"]


def test_a_month_of_simulated_runs_keeps_to_its_budget_and_the_next_begins_anew() -> None:
    models = [Candidate(f"a/{n}", "default", cost=10.0) for n in range(10)]
    rules = Rules(budget_per_month=30, runs_per_tick=10, budget_per_tick=100)
    runs = simulate(models, rules, START, 61, spent=Spent(10.0))
    by_month = [sum(run.cost for run in runs if run.at.month == month) for month in (11, 12)]
    assert by_month == [20.0, 30.0]
