import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.database import Database, PageRequest
from convex_evals.backend.errors import SystemFailure

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
