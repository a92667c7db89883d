from datetime import UTC, datetime
from typing import Any

import pytest

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import LENGTH, prefix
from convex_evals.core.steps import TestCounts
from convex_evals.scores import Outcome, Usage

EVAL = "000-a/000-b"


def test_an_attempt_is_numbered_and_finished_with_everything(scene: Any) -> None:
    run_id = scene.run(trials=2)
    scene.attempt(run_id, status="infrastructure")
    begun = scene.store.begin_attempt(run_id, EVAL, 1)
    assert len(begun.id) == LENGTH and (begun.run_id, begun.eval, begun.trial, begun.number) == (run_id, EVAL, 1, 2)
    assert scene.store.begin_attempt(run_id, EVAL, 2).number == 1
    outcome = Outcome(
        "failed", "tests", "grader.assertion", TestCounts(5, 6), 1500.5, 900.25, "no answer\0", ["a", "b\0\ud800"]
    )
    scene.store.finish_attempt(begun.id, outcome)
    record = scene.store.attempts(run_id, EVAL)[1]
    assert (record.id, record.number, record.status) == (begun.id, 2, "failed")
    assert (record.failed_step, record.failure, record.tests) == ("tests", "grader.assertion", TestCounts(5, 6))
    assert (record.duration_ms, record.cpu_ms, record.broken) == (1500.5, 900.25, "no answer␀")
    assert record.notes == ("a", "b\0\ud800")
    assert record.started_at <= record.finished_at <= datetime.now(UTC)
    assert scene.store.attempts(run_id, "another") == ()


def test_a_retry_leaves_the_attempt_before_it_as_it_was(scene: Any) -> None:
    run_id = scene.run()
    scene.attempt(run_id, status="infrastructure")
    before = scene.store.attempts(run_id)
    scene.attempt(run_id, status="passed")
    assert scene.store.attempts(run_id)[:1] == before
    assert [(each.number, each.status) for each in scene.store.results(run_id)] == [(2, "passed")]


def test_results_of_one_status_leave_out_what_a_retry_replaced(scene: Any) -> None:
    evals = ("000-a/000-b", "000-a/001-c", "000-a/002-d")
    run_id = scene.run(*evals)
    for name, statuses in zip(
        evals, (("infrastructure", "passed"), ("infrastructure", "failed"), ("failed",)), strict=True
    ):
        for status in statuses:
            scene.attempt(run_id, name, status=status)
    found = {
        status: [each.attempt.eval for each in scene.store.result_details(run_id, statuses=(status,))]
        for status in ("passed", "failed", "infrastructure")
    }
    assert found == {"passed": [evals[0]], "failed": [*evals[1:]], "infrastructure": []}
    assert [each.attempt for each in scene.store.result_details(run_id)] == [*scene.store.results(run_id)]
    assert [each.attempt.eval for each in scene.store.details(run_id, evals[1], ("failed",))] == [evals[1]]


def test_attempts_come_by_eval_trial_and_number(scene: Any) -> None:
    evals = ("000-a/010-b", "000-a/009-c", "000-a/009_b", "000-A/000-z")
    run_id = scene.run(*evals, trials=2)
    for trial in (2, 1):
        for name in evals:
            scene.attempt(run_id, name, trial)
    listed = [(each.eval, each.trial) for each in scene.store.attempts(run_id)]
    assert listed == sorted((name, trial) for name in evals for trial in (1, 2))


def test_an_open_attempt_is_not_a_result_and_neither_is_an_interrupted_one(scene: Any) -> None:
    run_id = scene.run(trials=2)
    scene.attempt(run_id, trial=1, status="infrastructure")
    for trial in (1, 2):
        scene.store.begin_attempt(run_id, EVAL, trial)
    assert [each.number for each in scene.store.results(run_id)] == [1]
    scene.store.finish_run(run_id, "stopped")
    assert [each.status for each in scene.store.attempts(run_id)] == ["infrastructure", "interrupted", "interrupted"]
    assert [each.number for each in scene.store.results(run_id)] == [1]
    assert scene.store.find_run(run_id).counts.remaining == 1


def test_only_one_attempt_at_an_eval_and_trial_is_open_at_a_time(scene: Any) -> None:
    run_id = scene.run()
    scene.store.begin_attempt(run_id, EVAL)
    with pytest.raises(InfrastructureError) as raised:
        scene.store.begin_attempt(run_id, EVAL)
    assert str(raised.value) == (
        f"Attempt 1 at {EVAL} (trial 1 of run {prefix(run_id)}) is still open; wait for the process that works on it."
    )


@pytest.mark.parametrize(("eval", "trial"), [("000-a/999-z", 1), (EVAL, 0), (EVAL, 2)])
def test_only_what_is_planned_can_be_attempted(scene: Any, eval: str, trial: int) -> None:
    run_id = scene.run()
    with pytest.raises(UsageError, match=f"^Trial {trial} of eval '{eval}' is not in the plan of run"):
        scene.store.begin_attempt(run_id, eval, trial)
    with pytest.raises(UsageError, match="is not in the plan"):
        scene.store.begin_attempt("x" * 32, eval, trial)


def test_nothing_is_attempted_in_a_finished_run(scene: Any) -> None:
    run_id = scene.run()
    scene.store.finish_run(run_id, "completed")
    with pytest.raises(UsageError, match=f"^Run {prefix(run_id)} is completed; resume it first.$"):
        scene.store.begin_attempt(run_id, EVAL)


def test_a_finished_attempt_takes_nothing_more(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.attempt(run_id)
    before = scene.store.export_run(run_id)
    for record in (
        lambda: scene.store.finish_attempt(begun.id, Outcome("failed")),
        lambda: scene.store.record_step(begun.id, scene.step(b"late")),
        lambda: scene.store.record_generation(begun.id, scene.generation()),
        lambda: scene.store.reuse_generation(begun.id, begun.id),
    ):
        with pytest.raises(InfrastructureError, match=r"is over \(passed\), so nothing can be added to it"):
            record()
    assert scene.store.export_run(run_id) == before


def test_an_attempt_that_was_never_begun_is_one_sentence(scene: Any) -> None:
    with pytest.raises(UsageError, match=r"^There is no attempt 'x' in these scores; begin it first.$"):
        scene.store.finish_attempt("x", Outcome("passed"))


FILES = {"convex/ü.ts": "export {};\n", "../../etc/passwd": "x", "nul\0": "\0", "half": "\ud83d", "empty": ""}


@pytest.mark.both_engines
def test_a_generation_comes_back_character_for_character(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    usage = Usage(100, 80, 50, 30, 412.5, 2000.25, "stop", "fireworks", 0.0123, "estimated")
    response = "Sure!\r\n```ts\n\0\ud800\U0001f600" * 1000
    notes = ("Windows line endings were converted.", 'The response holds no "files".')
    generation = scene.generation(
        response, prompt="", files=FILES, usage=usage, from_cache=True, truncated=True, notes=notes
    )
    scene.store.record_generation(begun.id, generation)
    (details,) = scene.store.details(run_id)
    record = details.generation
    assert scene.store.read_text(record.prompt) == ""
    assert scene.store.read_text(record.response) == response
    assert scene.store.read_files(record.files) == FILES
    assert (record.usage, record.from_cache, record.reused_from) == (usage, True, None)
    assert (record.truncated, record.notes) == (True, notes)


def test_an_unknown_cost_is_null_and_never_zero(scene: Any, execute: Any) -> None:
    begun = scene.store.begin_attempt(scene.run(), EVAL)
    scene.store.record_generation(begun.id, scene.generation(usage=Usage(1)))
    assert execute("SELECT cost_usd, cost_source, cached_tokens FROM usage") == [(None, "unknown", None)]
    free = scene.store.begin_attempt(scene.run(), EVAL)
    scene.store.record_generation(free.id, scene.generation(usage=Usage(cost_usd=0.0, cost_source="provider")))
    assert execute("SELECT cost_usd FROM usage WHERE cost_source = 'provider'") == [(0.0,)]


@pytest.mark.parametrize(("cost", "source"), [(None, "provider"), (1.0, "unknown")])
def test_a_cost_and_its_source_must_agree(cost: float | None, source: Any) -> None:
    with pytest.raises(ValueError, match="cannot have the source"):
        Usage(cost_usd=cost, cost_source=source)


def test_an_attempt_has_one_generation_forever(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation())
    before = scene.store.export_run(run_id)
    with pytest.raises(ValueError, match="has a generation already"):
        scene.store.record_generation(begun.id, scene.generation("another"))
    assert scene.store.export_run(run_id) == before


def test_a_generation_is_graded_again_without_being_paid_again(scene: Any, execute: Any) -> None:
    first = scene.run()
    asked = scene.store.begin_attempt(first, EVAL)
    scene.store.record_generation(asked.id, scene.generation(truncated=True, notes=("cut off",)))
    scene.store.finish_attempt(asked.id, Outcome("infrastructure"))
    again = scene.store.begin_attempt(first, EVAL)
    scene.store.reuse_generation(again.id, asked.id)
    second = scene.run()
    regraded = scene.store.begin_attempt(second, EVAL)
    scene.store.reuse_generation(regraded.id, again.id)
    original = scene.store.details(first)[0].generation
    for run_id in (first, second):
        record = scene.store.details(run_id)[-1].generation
        assert record.reused_from == asked.id
        assert (record.prompt, record.response, record.files) == (original.prompt, original.response, original.files)
        assert record.usage == original.usage
        assert (record.truncated, record.notes) == (True, ("cut off",))
    assert execute("SELECT count(*) FROM usage") == [(1,)]


def test_only_what_was_generated_can_be_used_again(scene: Any) -> None:
    run_id = scene.run(trials=2)
    nothing = scene.attempt(run_id)
    begun = scene.store.begin_attempt(run_id, EVAL, 2)
    with pytest.raises(UsageError, match="has no generation that could be used again"):
        scene.store.reuse_generation(begun.id, nothing.id)


def test_a_generation_without_usage_has_none(scene: Any) -> None:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation(usage=None))
    assert scene.store.details(run_id)[0].generation.usage is None
