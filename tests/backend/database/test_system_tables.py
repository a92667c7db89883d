from typing import Any

import pytest

from convex_evals.backend.database import Bound

JOB = {
    "component": "",
    "udfPath": "messages.js:destruct",
    "udfArgs": b'[{"id":"x","n":1}]',
    "argsId": None,
    "state": {"type": "pending"},
    "nextTs": 1_700_000_000_123_400_000,
    "completedTs": None,
    "originalScheduledTs": 1_700_000_000_123_400_000,
}


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


def test_files_show_their_public_fields(bench: Any) -> None:
    transaction = bench.begin()
    for content_type in ("image/png", None):
        row = transaction.system.insert(
            "",
            "_file_storage",
            {"storageId": "u-u-i-d", "contentType": content_type, "sha256": b"\x01\x02", "size": 12},
        )
        document = transaction.get("", row.id, is_system=True)
        assert document.fields == {"contentType": content_type, "sha256": "AQI=", "size": 12.0}
        assert (document.id, document.creation_time) == (row.id, row.creation_time)
    assert len(bench.pull_all(transaction, bench.scan("_storage"))) == 2


def test_scheduled_functions_show_their_public_fields(bench: Any) -> None:
    transaction = bench.begin()
    row = transaction.system.insert("", "_scheduled_jobs", JOB)
    assert transaction.get("", row.id, "_scheduled_functions", is_system=True).fields == {
        "name": "messages.js:destruct",
        "args": [{"id": "x", "n": 1.0}],
        "scheduledTime": 1_700_000_000_123.4,
        "state": {"kind": "pending"},
    }
    transaction.system.patch(
        "",
        "_scheduled_jobs",
        row.id,
        {"state": {"type": "failed", "error": "boom"}, "nextTs": None, "completedTs": 1_700_000_000_456_700_000},
    )
    document = transaction.get("", row.id, is_system=True)
    assert document.value["state"] == {"kind": "failed", "error": "boom"}
    assert document.value["scheduledTime"] == 1_700_000_000_123.4
    assert document.value["completedTime"] == 1_700_000_000_456.7


def test_arguments_may_be_kept_in_a_row_of_their_own(bench: Any) -> None:
    transaction = bench.begin()
    arguments = transaction.system.insert("", "_scheduled_job_args", {"args": b'[{"big":true}]'})
    row = transaction.system.insert("", "_scheduled_jobs", {**JOB, "udfArgs": None, "argsId": arguments.id})
    assert transaction.get("", row.id, is_system=True).value["args"] == [{"big": True}]


def test_views_are_queried_filtered_and_free_but_their_intervals_count(bench: Any) -> None:
    transaction = bench.begin()
    for n in range(3):
        transaction.system.insert("", "_scheduled_jobs", {**JOB, "udfPath": f"m.js:f{n}"})
    named = {"filter": {"$gt": [{"$field": "name"}, {"$literal": "m.js:f0"}]}}
    found = bench.pull_all(transaction, bench.scan("_scheduled_functions", named, order="desc"))
    assert [document.value["name"] for document in found] == ["m.js:f2", "m.js:f1"]
    by_id = bench.range("_scheduled_functions.by_id", ("Eq", "_id", found[0].id))
    assert [document.id for document in bench.pull_all(transaction, by_id)] == [found[0].id]
    assert (transaction.usage.documents_read, transaction.usage.database_queries) == (0, 2)


def test_views_are_reactive(bench: Any) -> None:
    reader = bench.begin()
    bench.pull_all(reader, bench.scan("_scheduled_functions"))
    ts = bench.database.latest
    writer = bench.begin()
    writer.system.insert("", "_scheduled_jobs", JOB)
    bench.database.commit(writer)
    assert bench.database.changed_since(reader.read_set, ts)
