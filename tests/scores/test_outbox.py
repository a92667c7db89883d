"""From one database to another and back: what is on the list, and that nothing is lost, doubled or changed."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from convex_evals.core.diagnostics import Diagnostic, TestResult
from convex_evals.scores import LabelRecord, Outcome, RunPlan, ScoresStore, Usage
from convex_evals.scores.migrations.triggers import FOLLOWED
from convex_evals.scores.outbox import Parcel
from convex_evals.scores.transfer import ANY_RECORD, ROWS, encode

EVAL = "000-a/000-b"
THERE = "https://scores.example.com"
ELSEWHERE = "https://elsewhere.example.com"


def carry(parcel: Parcel, team: ScoresStore, store: ScoresStore) -> None:
    """What sender and service do between them, without the network."""
    for name in team.uploads.missing(parcel.artifacts):
        team.uploads.put(name, store.read_bytes(name))
    records = msgspec.json.decode(encode(parcel.records), type=tuple[ANY_RECORD, ...])  # type: ignore[misc]
    team.intake.take_in(parcel.run_id, records)


def deliver(store: ScoresStore, team: ScoresStore) -> int:
    """All there is to send; returns how many parcels that took."""
    parcels = 0
    while (parcel := store.outbox.next_parcel(THERE)) is not None:
        carry(parcel, team, store)
        store.outbox.delivered(parcel)
        parcels += 1
    return parcels


def assert_same(store: ScoresStore, team: ScoresStore, run_id: str) -> None:
    assert encode(team.outbox.records(run_id)) == encode(store.outbox.records(run_id))
    assert team.export_run(run_id) == store.export_run(run_id)


def follow(scene: Any, **changes: Any) -> str:
    plan: RunPlan = scene.plan(**changes)
    scene.store.outbox.follow(plan.id, THERE)
    return str(scene.store.create_run(plan))


def failing(scene: Any, run_id: str) -> str:
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation(notes=("half a pair: \ud83d", "\0")))
    scene.store.record_step(begun.id, scene.step(b"compiled\n"))
    tests = {"name": "tests", "status": "failed", "failure": "test-failed"}
    diagnostics = (Diagnostic("tests", "nö\0", fingerprint="test:a", line=3),)
    results = (TestResult("a", "failed", "no"), TestResult("b", "passed"))
    scene.store.record_step(begun.id, scene.step(b"log", diagnostics=diagnostics, test_results=results, **tests))
    scene.store.finish_attempt(begun.id, Outcome("failed", failed_step="tests", notes=("x",), duration_ms=0.1 + 0.2))
    return str(begun.id)


@pytest.mark.both_engines
def test_every_table_that_travels_is_followed_by_triggers(server: Any, where: str) -> None:
    followed = {each.table for each in FOLLOWED}
    assert followed == {row.__tablename__ for row in ROWS}
    names = {f"{each.table}_outbox_{change.lower()}" for each in FOLLOWED for change in each.changes}
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger",
    }
    assert names <= {name for (name,) in server.execute(where, query[server.name])}


def test_a_run_arrives_unchanged_while_it_is_under_way(scene: Any, team: ScoresStore) -> None:
    store, run_id = scene.store, follow(scene)
    assert deliver(store, team) == 1
    assert_same(store, team, run_id)
    begun = store.begin_attempt(run_id, EVAL)
    deliver(store, team)
    assert team.attempts(run_id)[0].status == "running"
    store.record_generation(begun.id, scene.generation())
    deliver(store, team)
    assert_same(store, team, run_id)
    store.finish_attempt(begun.id, Outcome("passed"))
    store.finish_run(run_id, "completed")
    deliver(store, team)
    assert_same(store, team, run_id)
    assert team.find_run(run_id).status == "completed"
    assert store.outbox.unsent() == ()


@pytest.mark.both_engines
def test_everything_arrives_bit_for_bit(scene: Any, team: ScoresStore) -> None:
    store = scene.store
    run_id = follow(scene, labels=("a",), options={"odd": ["\ud800", "\0", 1e300, None]})
    failing(scene, run_id)
    store.add_trials(run_id, [(EVAL, 2)])
    store.labels.add(LabelRecord(run_id, EVAL, 1, "OVERLY_STRICT", "no", "me", datetime.now(UTC)))
    store.finish_run(run_id, "stopped", "interrupted")
    store.resume_run(run_id)
    deliver(store, team)
    assert_same(store, team, run_id)
    details = store.details(run_id)[0]
    for name in (details.generation.prompt, details.generation.files, *details.logs.values()):
        assert team.read_bytes(name) == store.read_bytes(name)
    assert team.labels.of_run(run_id) == store.labels.of_run(run_id)


def test_what_was_paid_for_answers_of_no_use_arrives(scene: Any, team: ScoresStore) -> None:
    store, run_id = scene.store, follow(scene)
    store.record_unusable(store.begin_attempt(run_id, EVAL).id, [Usage(cost_usd=0.5, cost_source="provider")])
    deliver(store, team)
    store.outbox.send_again(run_id, ELSEWHERE)
    assert "usage" in str(store.outbox.next_parcel(ELSEWHERE)).lower()
    assert_same(store, team, run_id)
    assert team.history.answers([run_id]) == store.history.answers([run_id])


def test_what_arrives_twice_changes_nothing(scene: Any, team: ScoresStore) -> None:
    store, run_id = scene.store, follow(scene)
    failing(scene, run_id)
    parcel = store.outbox.next_parcel(THERE)
    assert parcel is not None
    carry(parcel, team, store)
    before = encode(team.outbox.records(run_id))
    carry(parcel, team, store)
    store.outbox.send_again(run_id, THERE)
    deliver(store, team)
    assert encode(team.outbox.records(run_id)) == before
    assert_same(store, team, run_id)


def test_an_older_version_that_comes_late_is_ignored(scene: Any, team: ScoresStore) -> None:
    store, run_id = scene.store, follow(scene)
    store.begin_attempt(run_id, EVAL)
    late = store.outbox.next_parcel(THERE)
    assert late is not None
    store.finish_run(run_id, "stopped", "interrupted")
    deliver(store, team)
    store.resume_run(run_id)
    later = store.outbox.next_parcel(THERE)
    deliver(store, team)
    assert later is not None
    carry(late, team, store)
    carry(later, team, store)
    assert_same(store, team, run_id)
    assert team.find_run(run_id).status == "running"


@pytest.mark.both_engines
def test_what_changes_while_it_is_sent_stays_on_the_list(scene: Any, team: ScoresStore) -> None:
    store, run_id = scene.store, follow(scene)
    begun = store.begin_attempt(run_id, EVAL)
    parcel = store.outbox.next_parcel(THERE)
    assert parcel is not None
    store.finish_attempt(begun.id, Outcome("passed"))
    carry(parcel, team, store)
    store.outbox.delivered(parcel)
    assert [each.entries for each in store.outbox.unsent(THERE)] == [1]
    deliver(store, team)
    assert_same(store, team, run_id)


def test_runs_that_nobody_wants_elsewhere_are_not_listed(scene: Any) -> None:
    failing(scene, scene.run())
    assert scene.store.outbox.unsent() == ()
    assert scene.store.outbox.next_parcel(THERE) is None


def test_each_destination_has_a_list_of_its_own(scene: Any, team: ScoresStore) -> None:
    store, run_id = scene.store, follow(scene)
    store.outbox.send_again(run_id, ELSEWHERE)
    deliver(store, team)
    assert [(each.destination, each.entries) for each in store.outbox.unsent()] == [(ELSEWHERE, 1)]
    assert store.outbox.destinations(run_id) == (THERE, ELSEWHERE)


def test_a_run_of_before_is_sent_whole_when_it_is_asked_for(scene: Any, team: ScoresStore) -> None:
    run_id = scene.run()
    failing(scene, run_id)
    scene.store.finish_run(run_id, "completed")
    scene.store.outbox.send_again(run_id, THERE)
    deliver(scene.store, team)
    assert_same(scene.store, team, run_id)


def test_a_run_whose_answers_are_graded_again_is_sent_before(scene: Any, team: ScoresStore) -> None:
    store, source = scene.store, scene.run()
    asked = failing(scene, source)
    run_id = follow(scene)
    begun = store.begin_attempt(run_id, EVAL)
    store.reuse_generation(begun.id, asked)
    deliver(store, team)
    assert_same(store, team, source)
    assert_same(store, team, run_id)


def test_a_run_that_is_refused_does_not_hold_up_others(scene: Any, team: ScoresStore) -> None:
    store, first, second = scene.store, follow(scene), follow(scene)
    store.outbox.refuse(THERE, first, "it was deleted")
    assert deliver(store, team) == 1
    assert_same(store, team, second)
    assert [(each.run_id, each.refused) for each in store.outbox.unsent()] == [(first, "it was deleted")]
    store.outbox.send_again(first, THERE)
    deliver(store, team)
    assert store.outbox.unsent() == ()


def test_a_run_that_grades_the_answers_of_a_refused_one_waits_and_does_not_hold_up_others(
    scene: Any, team: ScoresStore
) -> None:
    store, source = scene.store, follow(scene)
    asked = failing(scene, source)
    store.outbox.refuse(THERE, source, "it was deleted")
    again, other = follow(scene), follow(scene)
    store.reuse_generation(store.begin_attempt(again, EVAL).id, asked)
    assert deliver(store, team) == 1
    assert_same(store, team, other)
    assert [each.run_id for each in store.outbox.unsent()] == [source, again]
    store.outbox.send_again(source, THERE)
    deliver(store, team)
    assert_same(store, team, again)
    assert store.outbox.unsent() == ()


def test_a_large_run_comes_in_several_parcels(scene: Any, team: ScoresStore, monkeypatch: Any) -> None:
    monkeypatch.setattr("convex_evals.scores.outbox.BATCH_BYTES", 1000)
    run_id = follow(scene)
    failing(scene, run_id)
    assert deliver(scene.store, team) > 3
    assert_same(scene.store, team, run_id)
