from typing import Any

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
