from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import Outcome, Usage

EVAL = "000-a/000-b"
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
