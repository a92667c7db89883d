import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.database import Commit, Database, PageRequest
from convex_evals.backend.database import database as database_module
from convex_evals.backend.errors import Conflict, RequestError, SystemFailure

COMMIT_FOREVER = """
import sys
from pathlib import Path
from convex_evals.backend.database import Database

database = Database.open(Path(sys.argv[1]))
n = 0
while True:
    transaction = database.begin()
    documents = [transaction.insert("", "t", {"n": n, "part": part}) for part in range(3)]
    database.commit(transaction)
    print(n, *(document.id for document in documents), flush=True)
    n += 1
"""

FILL_THE_DISK = """
import resource, sys
from pathlib import Path
from convex_evals.backend.database import Database
from convex_evals.backend.errors import SystemFailure

database = Database.open(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
committed = []
while True:
    transaction = database.begin()
    document = transaction.insert("", "t", {"body": "x" * 20_000})
    latest = database.latest
    try:
        database.commit(transaction)
    except SystemFailure as failure:
        print("failure", failure)
        break
    committed.append(document.id)
reader = database.begin()
assert database.latest == latest
assert reader.count("", "t") == len(committed)
assert reader.get("", document.id) is None
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
again = database.begin()
committed.append(again.insert("", "t", {"body": "there is room again"}).id)
database.commit(again)
print(*committed)
"""


class TestTimestamps:
    def test_commits_are_stamped_with_growing_nanoseconds(self, bench: Any) -> None:
        before = time.time_ns()
        stamps = []
        for _ in range(50):
            transaction = bench.begin()
            transaction.insert("", "t", {})
            stamps.append(bench.database.commit(transaction).ts)
        assert stamps == sorted(set(stamps))
        assert before <= stamps[0] <= bench.database.latest == stamps[-1]

    def test_a_transaction_without_writes_commits_at_its_snapshot(self, bench: Any) -> None:
        bench.insert("t", {})
        transaction = bench.begin()
        bench.insert("t", {})
        commit = bench.database.commit(transaction)
        assert (commit.ts, commit.writes) == (transaction.ts, ())


class TestSnapshots:
    def test_a_transaction_sees_one_state_however_long_it_runs(self, bench: Any) -> None:
        bench.push(bench.table("t", None, {"by_a": ["a"]}))
        first, second = bench.insert("t", {"a": 1}, {"a": 2})
        reader = bench.begin()
        writer = bench.begin()
        writer.patch("", first.id, {"a": 5})
        writer.delete("", second.id)
        writer.insert("", "t", {"a": 3})
        bench.database.commit(writer)
        found = [document.value["a"] for document in bench.pull_all(reader, bench.range("t.by_a"))]
        assert found == [1.0, 2.0]
        assert reader.count("", "t") == 2
        assert [d.value["a"] for d in bench.pull_all(bench.begin(), bench.range("t.by_a"))] == [3.0, 5.0]

    def test_the_recent_past_can_be_read(self, bench: Any) -> None:
        bench.insert("t", {"a": 1})
        ts = bench.database.latest
        bench.insert("t", {"a": 2})
        assert bench.database.begin(ts).count("", "t") == 1
        with pytest.raises(RequestError, match="503 OutOfRetention: The snapshot at"):
            bench.database.begin(ts - 10**12)
        with pytest.raises(SystemFailure, match="no snapshot"):
            bench.database.begin(bench.database.latest + 1)

    def test_old_versions_are_forgotten_when_nobody_can_see_them(
        self, bench: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(database_module, "RETENTION_NS", 0)
        monkeypatch.setattr(database_module, "COLLECT_EVERY_NS", 0)
        document = bench.insert("t", {"n": 0})[0]
        reader = bench.begin()
        start = reader.ts
        for n in range(1, 20):
            writer = bench.begin()
            writer.patch("", document.id, {"n": n})
            bench.database.commit(writer)
        assert reader.get("", document.id).value["n"] == 0
        del reader, writer
        gc.collect()
        doomed = bench.insert("t", {})[0]
        writer = bench.begin()
        writer.delete("", doomed.id)
        bench.database.commit(writer)
        del writer
        bench.insert("t", {})
        with pytest.raises(RequestError):
            bench.database.begin(start)
        assert bench.begin().get("", document.id).value["n"] == 19
        table = bench.begin().catalog("").tables["t"]
        versions = bench.database._state.versions.index(table.by_id.storage)._entries
        assert len(versions) == 2
        assert all(version.older is None for version in versions.values())


class TestConflicts:
    """Two transactions that overlap in time; the first commits before the second."""

    def test_blind_inserts_never_conflict(self, bench: Any) -> None:
        bench.insert("t", {})
        one, other = bench.begin(), bench.begin()
        one.insert("", "t", {})
        other.insert("", "t", {})
        bench.database.commit(one)
        bench.database.commit(other)
        assert bench.begin().count("", "t") == 3

    def test_two_patches_of_one_document_conflict(self, bench: Any) -> None:
        document = bench.insert("t", {"n": 1})[0]
        one, other = bench.begin(), bench.begin()
        one.patch("", document.id, {"n": 2})
        other.patch("", document.id, {"n": 3})
        bench.database.commit(one, "messages:send")
        with pytest.raises(Conflict) as caught:
            bench.database.commit(other)
        conflict = caught.value
        assert (conflict.table, conflict.document_id, conflict.source) == ("t", document.id, "messages:send")
        assert bench.begin().get("", document.id).value["n"] == 2.0

    def test_patches_of_different_documents_do_not(self, bench: Any) -> None:
        first, second = bench.insert("t", {"n": 1}, {"n": 2})
        one, other = bench.begin(), bench.begin()
        one.patch("", first.id, {"n": 5})
        other.patch("", second.id, {"n": 6})
        bench.database.commit(one)
        bench.database.commit(other)

    def test_a_get_that_found_nothing_conflicts_with_the_document_appearing(self, bench: Any) -> None:
        bench.insert("t", {})
        one, other = bench.begin(), bench.begin()
        document = one.insert("", "t", {})
        assert other.get("", document.id) is None
        other.insert("", "t", {})
        bench.database.commit(one)
        with pytest.raises(Conflict):
            bench.database.commit(other)

    def test_a_range_conflicts_with_a_document_that_leaves_it(self, bench: Any) -> None:
        bench.push(bench.table("t", None, {"by_n": ["n"]}))
        document = bench.insert("t", {"n": 1})[0]
        one, other = bench.begin(), bench.begin()
        one.patch("", document.id, {"n": 100})
        bench.pull_all(other, bench.range("t.by_n", ("Lt", "n", 10)))
        other.insert("", "log", {})
        bench.database.commit(one)
        with pytest.raises(Conflict):
            bench.database.commit(other)

    def test_reads_of_a_rolled_back_part_still_conflict(self, bench: Any) -> None:
        document = bench.insert("t", {"n": 1})[0]
        one, other = bench.begin(), bench.begin()
        one.patch("", document.id, {"n": 2})
        savepoint = other.savepoint()
        other.patch("", document.id, {"n": 3})
        other.rollback(savepoint)
        other.insert("", "t", {})
        bench.database.commit(one)
        with pytest.raises(Conflict):
            bench.database.commit(other)

    def test_two_transactions_cannot_create_tables_with_the_same_number(self, bench: Any) -> None:
        one, other = bench.begin(), bench.begin()
        one.insert("", "a", {})
        other.insert("", "b", {})
        bench.database.commit(one)
        with pytest.raises(Conflict):
            bench.database.commit(other)

    def test_naming_a_private_table_does_not_hide_that_tables_were_looked_at(self, bench: Any) -> None:
        one, other = bench.begin(), bench.begin()
        assert other.count("", "_tables") == 0
        other.insert("", "b", {})
        one.insert("", "a", {})
        bench.database.commit(one)
        with pytest.raises(Conflict):
            bench.database.commit(other)

    def test_a_new_schema_conflicts_with_writes_checked_against_the_old_one(self, bench: Any) -> None:
        bench.insert("t", {})
        transaction = bench.begin()
        transaction.insert("", "t", {"n": 1})
        bench.push(bench.table("t", {}))
        with pytest.raises(Conflict):
            bench.database.commit(transaction)

    def test_a_failed_commit_changes_nothing(self, bench: Any) -> None:
        document = bench.insert("t", {"n": 1})[0]
        one, other = bench.begin(), bench.begin()
        one.patch("", document.id, {"n": 2})
        other.patch("", document.id, {"n": 3})
        other.insert("", "t", {})
        bench.database.commit(one)
        latest = bench.database.latest
        with pytest.raises(Conflict):
            bench.database.commit(other)
        assert bench.database.latest == latest
        assert bench.begin().count("", "t") == 1


class TestCommits:
    def test_callbacks_get_every_commit_that_wrote_until_they_unsubscribe(self, bench: Any) -> None:
        commits: list[Commit] = []
        unsubscribe = bench.database.on_commit(commits.append)
        document = bench.insert("t", {"n": 1})[0]
        bench.database.commit(bench.begin())
        transaction = bench.begin()
        transaction.delete("", document.id)
        bench.database.commit(transaction, "m:f")
        unsubscribe()
        bench.insert("t", {})
        assert [len(commit.writes) for commit in commits] == [2, 1]  # the first one created the table
        assert commits[1].source == "m:f"
        write = commits[1].writes[0]
        assert (write.table.name, write.id, write.old, write.new) == ("t", document.id, document, None)

    def test_a_document_inserted_and_deleted_leaves_only_its_table(self, bench: Any) -> None:
        transaction = bench.begin()
        transaction.delete("", transaction.insert("", "t", {}).id)
        commit = bench.database.commit(transaction)
        assert [write.table.name for write in commit.writes] == ["_tables"]
        assert "t" in bench.begin().catalog("").tables

    def test_a_commit_touches_what_was_read(self, bench: Any) -> None:
        document, other = bench.insert("t", {"n": 1}, {"n": 2})
        commits: list[Commit] = []
        bench.database.on_commit(commits.append)
        reader = bench.begin()
        reader.get("", document.id)
        for id in (other.id, document.id):
            writer = bench.begin()
            writer.patch("", id, {"n": 5})
            bench.database.commit(writer)
        assert [commit.touches(reader.read_set) for commit in commits] == [False, True]
        assert bench.database.changed_since(reader.read_set, commits[0].ts)
        assert not bench.database.changed_since(reader.read_set, commits[1].ts)

    def test_what_happened_too_long_ago_may_have_changed(self, bench: Any) -> None:
        assert bench.database.changed_since(bench.begin().read_set, 0)

    def test_a_push_changes_what_depends_on_it(self, bench: Any) -> None:
        reader = bench.begin()
        reader.depend_on_push()
        ts = bench.database.latest
        bench.insert("t", {})
        assert not bench.database.changed_since(reader.read_set, ts)
        push = bench.begin()
        push.system.insert("", "_udf_config", {"version": 1})
        bench.database.commit(push)
        assert bench.database.changed_since(reader.read_set, ts)


def test_a_large_transaction_is_fast_and_so_are_small_reads(bench: Any) -> None:
    """Generous bounds: they catch what is wrong by an order of magnitude, on a busy machine too."""
    bench.push(bench.table("t", None, {"by_n": ["n"]}))
    started = time.process_time()
    transaction = bench.begin()
    documents = [transaction.insert("", "t", {"n": n, "body": "some text"}) for n in range(10_000)]
    bench.database.commit(transaction)
    assert time.process_time() - started < 5
    started = time.process_time()
    for _ in range(100):
        reader = bench.begin()
        reader.get("", documents[5000].id)
        found = bench.pull_all(reader, bench.range("t.by_n", ("Gte", "n", 5000), ("Lt", "n", 5100)), batch=200)
        assert len(found) == 100
    assert (time.process_time() - started) / 100 < 0.01


def test_a_path_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite3"
    path.write_bytes(b"this is not a database, but it is long enough to be looked at" * 100)
    with pytest.raises(SystemFailure, match="cannot open the database"):
        Database.open(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "data.sqlite3"


def test_everything_is_there_after_reopening(path: Path, bench_on: Callable[[Database], Any]) -> None:
    database = Database.open(path)
    bench = bench_on(database)
    search = {"words": {"searchField": "body", "filterFields": []}}
    vector = {"near": {"vectorField": "v", "dimensions": 2, "filterFields": []}}
    string = {"fieldType": {"type": "any"}, "optional": True}
    fields = {"n": string, "body": string, "v": string}
    bench.push(bench.table("t", fields, {"by_n": ["n"]}, search, vector, {"later": ["body"]}))
    documents = bench.insert(
        "t", *({"n": {"$integer": "AQAAAAAAAAA="}, "body": f"fish {n}", "v": [n, 1]} for n in range(5))
    )
    bench.insert("inside", {"x": {"$bytes": "AQI="}}, namespace="component")
    transaction = bench.begin()
    transaction.delete("", documents[0].id)
    transaction.patch("", documents[1].id, {"body": "bird"})
    transaction.system.insert("", "_environment_variables", {"name": "A", "value": "1"})
    database.commit(transaction)
    query = bench.range("t.by_n")
    page = bench.begin().paginate("", PageRequest(query, None, 2))
    before = [document.text for document in bench.pull_all(bench.begin(), query)]
    latest = database.latest
    database.close()

    database = Database.open(path)
    bench = bench_on(database)
    reader = bench.begin()
    assert database.latest == latest
    assert [document.text for document in bench.pull_all(reader, query)] == before
    assert [d.value["body"] for d in bench.pull_all(reader, bench.search("t.words", "body", "bird"))] == ["bird"]
    assert len(database.vector_search("", {"indexName": "t.near", "vector": [1, 1]})) == 4
    assert reader.system.first("", "_environment_variables", "by_name", ["A"]) is not None
    assert bench.pull_all(reader, bench.scan("inside"), namespace="component")[0].value["x"] == b"\x01\x02"
    assert dict(reader.catalog("").table_names) == {10001: "t"}
    assert reader.catalog("").active_schema.text == reader.catalog("").active_schema.schema.dumps()
    assert [index.name for index in reader.catalog("").tables["t"].user_indexes if index.spec.staged] == ["later"]
    assert len(bench.begin().paginate("", PageRequest(query, page.continue_cursor, 10)).documents) == 2
    bench.insert("t", {"n": None})
    assert database.latest > latest
    database.close()


def test_system_rows_beyond_the_limits_of_values_are_restored(path: Path) -> None:
    database = Database.open(path)
    transaction = database.begin()
    fields = {"list": [1.0] * 9000, "object": {f"f{n}": [-0.0, n, b"x", None] for n in range(1100)}}
    row = transaction.system.insert("", "_source_packages", fields)
    database.commit(transaction)
    database.close()
    database = Database.open(path)
    restored = database.begin().system.get("", "_source_packages", row.id)
    assert restored is not None
    assert (restored.value, restored.text) == (row.value, row.text)
    database.close()


def test_a_second_process_cannot_open_the_same_file(path: Path, bench_on: Callable[[Database], Any]) -> None:
    database = Database.open(path)
    bench_on(database).insert("t", {})
    with pytest.raises(SystemFailure, match="database is locked"):
        Database.open(path)
    database.close()


def test_nothing_that_was_committed_is_lost_when_the_process_is_killed(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMIT_FOREVER, str(path)], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout is not None
    with process.stdout as output:
        reported = [output.readline() for _ in range(40)]
        process.kill()
        reported += output.readlines()
    process.wait()
    database = Database.open(path)
    reader = database.begin()
    complete = [line.split() for line in reported if line.endswith("\n")]
    assert len(complete) >= 40
    for n, *ids in complete:
        assert [reader.get("", id).value["n"] for id in ids] == [float(n)] * 3  # type: ignore[union-attr]
    assert reader.count("", "t") % 3 == 0
    database.close()


def test_a_full_disk_fails_the_commit_and_leaves_everything_as_it_was(path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", FILL_THE_DISK, str(path)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    failure, committed = process.stdout.splitlines()
    assert failure.startswith("failure cannot write to the database: ")
    database = Database.open(path)
    reader = database.begin()
    ids = committed.split()
    assert len(ids) > 3
    assert all(reader.get("", id) is not None for id in ids)
    assert reader.count("", "t") == len(ids)
    database.close()


def test_a_file_of_another_format_is_refused(path: Path) -> None:
    database = Database.open(path)
    assert database._file is not None
    database._file.set_fact("format", 99)
    database.close()
    with pytest.raises(SystemFailure, match="has the format 99"):
        Database.open(path)
