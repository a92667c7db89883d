"""Many runs at once say the same as each run by itself."""

from typing import Any

import pytest

from convex_evals.scores import Generation, ScoresStore, Usage
from convex_evals.scores import history as module

EVALS = ("000-a/000-b", "000-a/001-c")


def test_runs_come_newest_first_with_a_mark_that_changes_with_them(scene: Any, store: ScoresStore) -> None:
    first, second = scene.run(*EVALS), scene.run(*EVALS)
    assert [key.id for key in store.history.index()] == [second, first]
    before = store.history.index()
    store.finish_run(first, "completed")
    assert store.history.index()[0] == before[0]
    assert store.history.index()[1] != before[1]


@pytest.mark.both_engines
def test_many_runs_are_read_as_each_would_be(scene: Any, store: ScoresStore, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    ids = [scene.run(*EVALS, trials=2) for _ in range(5)]
    for place, run in enumerate(ids):
        scene.attempt(run, EVALS[0], status="infrastructure")
        scene.attempt(run, EVALS[0], status="passed" if place % 2 else "failed")
        scene.attempt(run, EVALS[1], trial=2)
    assert {run.id: run for run in store.history.runs(ids)} == {run: store.find_run(run) for run in ids}
    for run, results in store.history.results(ids).items():
        assert {(each.eval, each.trial, each.status) for each in results} == {
            (each.eval, each.trial, each.status) for each in store.results(run)
        }
    assert {run: set(planned) for run, planned in store.history.planned(ids).items()} == {
        run: set(store.planned(run)) for run in ids
    }


def test_runs_of_the_same_plan_share_it(scene: Any, store: ScoresStore) -> None:
    planned = store.history.planned([scene.run(*EVALS), scene.run(*EVALS)])
    first, second = planned.values()
    assert first is second


def test_only_what_a_model_was_really_asked_counts(scene: Any, store: ScoresStore) -> None:
    run = scene.run(*EVALS)
    asked = store.begin_attempt(run, EVALS[0])
    store.record_generation(asked.id, scene.generation())
    cached = store.begin_attempt(run, EVALS[1])
    store.record_generation(cached.id, scene.generation(from_cache=True))
    other = scene.run(*EVALS)
    again = store.begin_attempt(other, EVALS[0])
    store.reuse_generation(again.id, asked.id)
    answers = store.history.answers([run, other])
    assert [(each.eval, each.cost_usd, each.usable) for each in answers[run]] == [(EVALS[0], 0.25, True)]
    assert answers[other] == ()


def test_answers_that_were_paid_for_and_of_no_use_are_among_them(scene: Any, store: ScoresStore) -> None:
    run = scene.run(*EVALS)
    tries = [
        Usage(output_tokens=5, cost_usd=0.5, cost_source="provider"),
        Usage(),
        Usage(output_tokens=2, cost_usd=0.25, cost_source="estimated"),
    ]
    none = store.begin_attempt(run, EVALS[0])
    store.record_unusable(none.id, tries)
    one = store.begin_attempt(run, EVALS[1])
    store.record_generation(one.id, Generation("", "", {}, tries[0], unusable=tries[1:]))
    taken = [(each.eval, each.cost_usd, each.output_tokens, each.usable) for each in store.history.answers([run])[run]]
    assert sorted(taken) == [(EVALS[0], 0.75, 7, False), (EVALS[1], 0.75, 7, True)]
    assert {each.cost_source for each in store.history.answers([run])[run]} == {"estimated"}
