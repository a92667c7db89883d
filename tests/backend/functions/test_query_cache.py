from convex_evals.backend.database import ReadSet
from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.functions.query_cache import CLOCK_SECONDS, MOST_ENTRIES, QueryCache, QueryKey
from convex_evals.backend.functions.types import QueryOutcome

PATH = FunctionPath("messages.js", "list")
KEY = QueryKey(PATH, "[{}]", None)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def outcome(ts: int = 10, value: str = "[]") -> QueryOutcome:
    return QueryOutcome(value, None, "r", ts=ts, read_set=ReadSet())


def unchanged(read_set: ReadSet, ts: int) -> bool:
    return False


def test_a_result_that_looked_at_the_clock_does_not_hold_for_ever() -> None:
    clock = Clock()
    cache = QueryCache(unchanged, clock)
    cache.put(KEY, "", outcome(), clock_read=True)
    clock.now += CLOCK_SECONDS - 0.1
    assert cache.get(KEY, "", at=10) is not None
    clock.now += 0.2
    assert cache.get(KEY, "", at=10) is None


def test_a_result_that_did_not_look_at_the_clock_does() -> None:
    clock = Clock()
    cache = QueryCache(unchanged, clock)
    cache.put(KEY, "", outcome(), clock_read=False)
    clock.now += 1e6
    assert cache.get(KEY, "", at=10) is not None


def test_a_result_does_not_answer_for_the_past() -> None:
    cache = QueryCache(unchanged)
    cache.put(KEY, "", outcome(ts=10), clock_read=False)
    assert cache.get(KEY, "", at=9) is None
    assert cache.get(KEY, "", at=11) is not None


def test_validity_is_checked_from_the_last_time_it_was_known() -> None:
    asked: list[int] = []

    def changed(read_set: ReadSet, ts: int) -> bool:
        asked.append(ts)
        return False

    cache = QueryCache(changed)
    cache.put(KEY, "", outcome(ts=10), clock_read=False)
    for at in (20, 30):
        cache.get(KEY, "", at)
    assert asked == [10, 20]


def test_old_results_make_room() -> None:
    cache = QueryCache(unchanged)
    keys = [QueryKey(PATH, str(number), None) for number in range(MOST_ENTRIES + 1)]
    for key in keys:
        cache.put(key, "", outcome(), clock_read=False)
    assert cache.get(keys[0], "", at=10) is None
    assert cache.get(keys[-1], "", at=10) is not None
