import hashlib
import random
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.scores import ScoresStore
from convex_evals.scores.artifacts import CHUNK, MOST_BYTES, PART, bytes_text, text_bytes

EVAL = "000-a/000-b"


def recorded(scene: Any, log: bytes) -> str:
    """The artifact of a log."""
    run_id = scene.run()
    scene.store.record_step(scene.store.begin_attempt(run_id, EVAL).id, scene.step(log))
    return str(scene.store.details(run_id)[0].logs["tsc"])


@pytest.mark.parametrize(
    "size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, pytest.param(3 * CHUNK + 7, marks=pytest.mark.both_engines)]
)
def test_bytes_of_any_size_come_back_under_their_sha256(scene: Any, size: int) -> None:
    log = random.Random(size).randbytes(size)
    artifact = recorded(scene, log)
    assert artifact == sha256(log).hexdigest()
    assert scene.store.read_bytes(artifact) == log


def test_the_same_bytes_are_kept_once(scene: Any, execute: Any) -> None:
    assert len({recorded(scene, b"the same" * 1000) for _ in range(3)}) == 1
    run_id = scene.run()
    begun = scene.store.begin_attempt(run_id, EVAL)
    scene.store.record_generation(begun.id, scene.generation("the same" * 1000, prompt="the same" * 1000))
    assert execute("SELECT count(*) FROM artifacts") == [(2,)]
    assert execute("SELECT count(*) FROM artifact_chunks") == [(2,)]


def test_text_is_kept_compressed(scene: Any, execute: Any) -> None:
    recorded(scene, b"error TS2322: Type 'string' is not assignable to type 'number'.\n" * 10_000)
    ((stored,),) = execute("SELECT sum(length(content)) FROM artifact_chunks")
    assert stored < 10_000


DAMAGE = {
    "other bytes": "UPDATE artifact_chunks SET content = (SELECT content FROM artifact_chunks WHERE sha256 <> '{0}')",
    "no compressed bytes": "UPDATE artifact_chunks SET content = {1} WHERE sha256 = '{0}'",
    "no bytes at all": "DELETE FROM artifact_chunks WHERE sha256 = '{0}'",
    "another size": "UPDATE artifacts SET size = 1 WHERE sha256 = '{0}'",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_noticed_on_reading(scene: Any, server: Any, execute: Any, damage: str) -> None:
    artifact, other = recorded(scene, b"original"), recorded(scene, b"another")
    for table in ("artifact_chunks", "artifacts"):
        for change in ("update", "delete"):
            suffix = "" if server.name == "sqlite" else f" ON {table}"
            execute(f"DROP TRIGGER {table}_refuse_{change}{suffix}")
    execute(damage.format(artifact, "x'00'" if server.name == "sqlite" else r"'\x00'"))
    with pytest.raises(InfrastructureError, match=f"^Artifact {artifact[:12]} is damaged; restore these scores from"):
        scene.store.read_bytes(artifact)
    assert scene.store.read_bytes(other) == b"another"


def test_an_artifact_that_is_not_there_is_one_sentence(store: ScoresStore) -> None:
    with pytest.raises(UsageError, match=r"^There is no artifact 'abc' in these scores; "):
        store.read_bytes("abc")


@pytest.mark.both_engines
def test_many_can_keep_the_same_bytes_at_once(scene: Any, where: str) -> None:
    run_id = scene.run(trials=8)
    big = "the same" * 300_000

    def record(trial: int) -> None:
        # Prompt and response the other way round for every second one: whoever waits must not wait forever.
        texts = {"response": big, "prompt": "p"} if trial % 2 else {"response": "p", "prompt": big}
        with ScoresStore.open(where) as own:
            begun = own.begin_attempt(run_id, EVAL, trial)
            own.record_generation(begun.id, scene.generation(**texts))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(record, range(1, 9)))
    found = {each.generation.response for each in scene.store.details(run_id)}
    assert found == {sha256(big.encode()).hexdigest(), sha256(b"p").hexdigest()}


@pytest.mark.parametrize("text", ["", "ü\U0001f600", "\ud800 half", "\0"])
def test_text_survives_the_way_there_and_back(text: str) -> None:
    assert bytes_text(text_bytes(text)) == text


LARGE = random.Random(1).randbytes(2 * PART + 1000)


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("content", [b"", b"a", LARGE[:PART]], ids=["empty", "small", "one part"])
def test_a_small_artifact_comes_whole(store: ScoresStore, content: bytes) -> None:
    name = name_of(content)
    assert store.uploads.missing([name, name]) == {name: 0}
    assert store.uploads.put(name, content)
    assert store.uploads.put(name, content)
    assert store.uploads.missing([name]) == {}
    assert store.read_bytes(name) == content


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (0, 0, 2, 2, 1)])
def test_a_large_one_comes_in_parts_in_any_order(store: ScoresStore, order: tuple[int, ...]) -> None:
    name = name_of(LARGE)
    whole = [store.uploads.put(name, LARGE[each * PART : (each + 1) * PART], each * PART, len(LARGE)) for each in order]
    assert whole == [False] * (len(order) - 1) + [True]
    assert store.read_bytes(name) == LARGE


def test_it_is_known_how_much_of_a_large_one_is_here(store: ScoresStore) -> None:
    name = name_of(LARGE)
    store.uploads.put(name, LARGE[:PART], 0, len(LARGE))
    assert store.uploads.missing([name]) == {name: PART}
    store.uploads.forget_old_parts()
    assert store.uploads.missing([name]) == {name: PART}


def test_only_what_has_the_right_hash_is_kept(store: ScoresStore) -> None:
    name = name_of(b"other")
    with pytest.raises(UsageError, match="does not have the SHA-256"):
        store.uploads.put(name, b"content")
    store.uploads.put(name, LARGE[:PART], 0, PART + 1)
    with pytest.raises(UsageError, match="does not have the SHA-256"):
        store.uploads.put(name, b"x", PART, PART + 1)
    assert store.uploads.missing([name]) == {name: 0}


@pytest.mark.parametrize(
    ("size", "offset", "total"),
    [(1, 0, MOST_BYTES + 1), (1, 1, 2), (5, 0, 6), (PART, -PART, PART), (PART, 2 * PART, 2 * PART), (1, PART, 1)],
)
def test_invalid_parts_are_refused(store: ScoresStore, size: int, offset: int, total: int) -> None:
    with pytest.raises(UsageError, match="An artifact"):
        store.uploads.put(name_of(b""), b"x" * size, offset, total)


@pytest.mark.both_engines
def test_a_last_part_that_arrives_several_times_at_once_completes_it_once(store: ScoresStore) -> None:
    """A runner that got no answer in time sends it again, while the first one is still being worked on."""
    for number in range(4):
        content = LARGE[: PART + 1 + number]
        name, total = name_of(content), len(content)
        store.uploads.put(name, content[:PART], 0, total)
        with ThreadPoolExecutor(4) as threads:
            sent = [threads.submit(store.uploads.put, name, content[PART:], PART, total) for _ in range(4)]
        assert any(each.result() for each in sent)
        assert store.read_bytes(name) == content
