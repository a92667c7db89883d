"""What the schedule knows about models, from their runs: asked in few statements, however many models there are."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from convex_evals.models import Registry, load_registry
from convex_evals.runner import RunScore, Spending
from convex_evals.schedule import Rules, spent_since
from convex_evals.schedule.agenda import candidates
from convex_evals.scores import (
    Generation,
    Outcome,
    PlannedEval,
    RunPlan,
    ScoresStore,
    Usage,
    counted_statements,
)

EVALS = ("000-basics/000-first", "000-basics/001-second")


@pytest.fixture
def store(files: Any) -> Iterator[ScoresStore]:
    with ScoresStore.open(files.ready()) as opened:
        yield opened


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry()


def asked(registry: Registry) -> list[str]:
    return [each.slug for each in registry.models.values() if each.api not in ("built-in", "recorded")]


def record(store: ScoresStore, model: str, cost: float | None) -> str:
    run = store.create_run(RunPlan(model, "acme", "default", tuple(PlannedEval(name) for name in EVALS)))
    for place, name in enumerate(EVALS):
        begun = store.begin_attempt(run, name)
        usage = Usage(cost_usd=cost, cost_source="unknown" if cost is None else "provider")
        store.record_generation(begun.id, Generation("task", "answer", {}, usage))
        store.finish_attempt(begun.id, Outcome("failed", failed_step="tests") if place else Outcome("passed"))
    store.finish_run(run, "completed")
    return run


def test_the_newest_complete_run_gives_certainty_and_cost(store: ScoresStore, registry: Registry) -> None:
    known, unknown, never = asked(registry)[:3]
    record(store, known, 9.0)
    run, _ = record(store, known, 0.25), record(store, unknown, None)
    by_model = {each.model: each for each in candidates(registry, store, Rules())}
    found = RunScore.of(store.find_run(run), store.results(run)).score
    assert found is not None
    assert by_model[known].margin == (found.interval.high - found.interval.low) / 2
    assert by_model[known].cost == Spending.of(store.generations(run)).cost.total == 0.5
    assert (by_model[unknown].cost, by_model[never].cost, by_model[never].margin) == (None, None, None)


def test_more_models_are_not_more_questions(store: ScoresStore, registry: Registry) -> None:
    numbers = []
    for model in asked(registry)[:3]:
        record(store, model, 0.25)
        with counted_statements() as statements:
            candidates(registry, store, Rules())
        numbers.append(len(statements))
    assert len(set(numbers)) == 1


def test_what_is_spent_counts_when_it_was_spent_whenever_its_run_began(store: ScoresStore, registry: Registry) -> None:
    began = datetime.now(UTC)
    plan = RunPlan(asked(registry)[0], "acme", "default", tuple(PlannedEval(name) for name in EVALS), trials=2)
    run = store.create_run(replace(plan, labels=("scheduled",)))
    for cost in (0.25, 0.5):
        between = datetime.now(UTC)
        begun = store.begin_attempt(run, EVALS[0])
        usage = Usage(cost_usd=cost, cost_source="provider")
        store.record_generation(begun.id, Generation("task", "answer", {}, usage))
        store.finish_attempt(begun.id, Outcome("infrastructure"))
        store.finish_run(run, "stopped", "interrupted")
        store.resume_run(run)
    rules = Rules(assumed_cost=8)
    assert spent_since(began, store, rules) == 0.75
    assert spent_since(between, store, rules) == 0.5
    store.record_unusable(store.begin_attempt(run, EVALS[1]).id, [Usage()])
    assert spent_since(between, store, rules) == 0.5 + 8 / 4
