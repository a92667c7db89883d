from typing import Any

import pytest

from convex_evals.backend.database import Bound


def test_rows_are_inserted_replaced_patched_and_deleted(bench: Any) -> None:
    transaction = bench.begin()
    system = transaction.system
    row = system.insert("", "_environment_variables", {"name": "A", "value": "1"})
    assert system.get("", "_environment_variables", row.id) is row
    system.patch("", "_environment_variables", row.id, {"value": "2"})
    assert system.first("", "_environment_variables", "by_name", ["A"]).fields == {"name": "A", "value": "2"}
    system.replace("", "_environment_variables", row.id, {"name": "B"})
    assert system.first("", "_environment_variables", "by_name", ["A"]) is None
    bench.database.commit(transaction)
    system = bench.begin().system
    assert system.delete("", "_environment_variables", row.id).fields == {"name": "B"}
    assert system.scan("", "_environment_variables") == []


def test_missing_rows_and_indexes_are_key_errors(bench: Any) -> None:
    system = bench.begin().system
    for operation in (
        lambda: system.replace("", "_modules", "x", {}),
        lambda: system.patch("", "_modules", "x", {}),
        lambda: system.delete("", "_modules", "x"),
        lambda: system.scan("", "_modules", "by_nothing"),
    ):
        with pytest.raises(KeyError):
            operation()


def test_an_id_may_be_allocated_before(bench: Any) -> None:
    assert bench.begin().system.insert("", "_components", {}, id="chosen").id == "chosen"


def test_system_rows_are_free_and_may_be_large(bench: Any) -> None:
    transaction = bench.begin()
    transaction.system.insert("", "_source_packages", {"source": "x" * 3_000_000})
    transaction.system.scan("", "_source_packages")
    assert all(metric["used"] == 0 for metric in transaction.metrics().values())
    bench.database.commit(transaction)


def test_scans_are_bounded_ordered_and_limited(bench: Any) -> None:
    transaction = bench.begin()
    for ts in (30, None, 10, 20):
        transaction.system.insert("", "_scheduled_jobs", {"nextTs": ts})

    def scan(**more: Any) -> list[Any]:
        return [row.value["nextTs"] for row in transaction.system.scan("", "_scheduled_jobs", "by_next_ts", **more)]

    assert scan() == [None, 10, 20, 30]
    assert scan(lower=Bound(None, False)) == [10, 20, 30]
    assert scan(lower=Bound(10, False), upper=Bound(30, True), descending=True) == [30, 20]
    assert scan(lower=Bound(None, False), limit=1) == [10]
    assert scan(equal=[20]) == [20]
    assert scan(limit=0) == []


@pytest.mark.parametrize(
    ("more", "affecting", "other"),
    [
        ({"limit": 1}, 5, 15),
        ({"limit": 1, "descending": True}, 40, 15),
        ({"limit": 9}, 40, None),
        ({"equal": [20]}, 20, 21),
    ],
)
def test_scans_record_what_they_read(bench: Any, more: Any, affecting: int, other: int | None) -> None:
    transaction = bench.begin()
    for ts in (10, 20, 30):
        transaction.system.insert("", "_scheduled_jobs", {"nextTs": ts})
    bench.database.commit(transaction)
    reader = bench.begin()
    reader.system.scan("", "_scheduled_jobs", "by_next_ts", **more)
    for value, expected in ((other, False), (affecting, True)):
        if value is not None:
            ts = bench.database.latest
            writer = bench.begin()
            writer.system.insert("", "_scheduled_jobs", {"nextTs": value})
            bench.database.commit(writer)
            assert bench.database.changed_since(reader.read_set, ts) is expected
