"""Records from elsewhere that do not fit: each is refused with a sentence, and nothing of it is taken in."""

from typing import Any

import msgspec
import pytest

from convex_evals.core.errors import ConflictError, IncompleteError, LeaseError
from convex_evals.scores import Outcome, ScoresStore
from convex_evals.scores.leases import Holder
from convex_evals.scores.transfer import ANY_RECORD, Record, encode, row_of

EVAL = "000-a/000-b"
DESK = Holder("desk", "desk.example.com")
LAPTOP = Holder("laptop", "laptop.example.com")


def changed(records: tuple[Record, ...], table: str, **values: Any) -> tuple[Record, ...]:
    def change(record: Record) -> Record:
        return msgspec.structs.replace(record, **values) if row_of(record).__tablename__ == table else record

    return tuple(change(record) for record in records)


@pytest.fixture
def run_id(scene: Any) -> str:
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation())
    scene.store.record_step(begun.id, scene.step())
    scene.store.finish_attempt(begun.id, Outcome("passed"))
    return str(run_id)


@pytest.fixture
def records(scene: Any, team: ScoresStore, run_id: str) -> tuple[Record, ...]:
    """Of a run whose artifacts have arrived."""
    generation = scene.store.generations(run_id)[0]
    for name in (generation.prompt, generation.response, generation.files):
        team.uploads.put(name, scene.store.read_bytes(name))
    found: tuple[Record, ...] = scene.store.outbox.records(run_id)
    return found


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("runs", {"experiment": "other"}),
        ("planned_evals", {"content_fingerprint": "other"}),
        ("attempts", {"status": "failed"}),
        ("attempts", {"number": 2}),
        ("generations", {"truncated": True}),
        ("usage", {"input_tokens": 7}),
        ("steps", {"excerpt": "other"}),
    ],
)
def test_what_is_recorded_is_never_replaced_by_something_else(
    team: ScoresStore, run_id: str, records: tuple[Record, ...], table: str, values: dict[str, Any]
) -> None:
    team.intake.take_in(run_id, records)
    with pytest.raises(ConflictError, match="is recorded differently here"):
        team.intake.take_in(run_id, changed(records, table, **values))
    assert team.outbox.records(run_id) == records


def test_another_attempt_in_the_same_place_is_a_conflict(
    team: ScoresStore, run_id: str, records: tuple[Record, ...]
) -> None:
    team.intake.take_in(run_id, records)
    attempts = tuple(each for each in records if row_of(each).__tablename__ == "attempts")
    with pytest.raises(ConflictError, match="another runner may have recorded it"):
        team.intake.take_in(run_id, changed(attempts, "attempts", id="0" * 32))


def test_records_need_those_that_they_refer_to(team: ScoresStore, run_id: str, records: tuple[Record, ...]) -> None:
    by_table = {row_of(each).__tablename__: each for each in records}
    with pytest.raises(IncompleteError, match=r"Run .* is not here"):
        team.intake.take_in(run_id, (by_table["planned_evals"],))
    with pytest.raises(IncompleteError, match=r"Attempt .* is not here"):
        team.intake.take_in(run_id, (by_table["runs"], by_table["steps"]))
    with pytest.raises(IncompleteError, match=r"Artifact .* is not here"):
        team.intake.take_in(run_id, changed(records, "steps", log="0" * 64))
    with pytest.raises(IncompleteError, match=r"The answer of attempt .* is not here"):
        team.intake.take_in(run_id, changed(records, "generations", reused_from="0" * 32))
    with pytest.raises(ConflictError, match="contradict each other"):
        team.intake.take_in(run_id, changed(records, "attempts", eval="000-a/other"))
    assert team.runs() == ()


def test_each_run_is_sent_on_its_own(scene: Any, team: ScoresStore, run_id: str, records: tuple[Record, ...]) -> None:
    other = scene.store.outbox.records(scene.run())
    for batch in (records + other, other):
        with pytest.raises(ConflictError, match="are not all of run"):
            team.intake.take_in(run_id, batch)


def test_a_deleted_run_does_not_come_back(team: ScoresStore, run_id: str, records: tuple[Record, ...]) -> None:
    team.intake.take_in(run_id, records)
    team.decisions.delete(run_id, "an admin", "a mistake")
    with pytest.raises(ConflictError, match="was deleted here by an admin: a mistake"):
        team.intake.take_in(run_id, records)


def test_a_label_of_a_run_that_was_given_here_stays(
    team: ScoresStore, run_id: str, records: tuple[Record, ...]
) -> None:
    team.intake.take_in(run_id, records)
    team.decisions.label(run_id, "kept", "an admin", "it is good")
    team.intake.take_in(run_id, records)
    assert team.find_run(run_id).labels == ("kept",)


@pytest.mark.both_engines
def test_two_runners_on_one_run_get_an_error(team: ScoresStore, run_id: str, records: tuple[Record, ...]) -> None:
    team.intake.take_in(run_id, records, DESK)
    with pytest.raises(LeaseError, match=r"by another runner \(desk.example.com\)"):
        team.intake.take_in(run_id, records, LAPTOP)
    with pytest.raises(LeaseError):
        team.leases.renew([run_id], LAPTOP)
    team.intake.take_in(run_id, records, DESK)


def test_invalid_records_are_refused(run_id: str, records: tuple[Record, ...]) -> None:
    sent = msgspec.json.decode(encode(records))
    for change in ({"status": "great"}, {"id": "x" * 33}, {"id": "\u0000"}, {"unknown": 1}, {"trials": 2**31}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert([{**sent[0], **change}], type=tuple[ANY_RECORD, ...])
