import hashlib
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import ScoresStore
from convex_evals.scores.uploads import MOST_BYTES, PART

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
