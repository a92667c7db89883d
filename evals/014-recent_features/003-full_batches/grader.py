"""Rows of all sizes are moved in transactions that are nearly full, but never too full."""

import math
import random
from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, same_schema

MEBIBYTE = 1 << 20
LARGEST = 900_000
SHARE = 0.75
MOST_SCHEDULED = 1000
IMPORT_BYTES = 4 * MEBIBYTE
Row = dict[str, Any]


def text(size: int, letter: str, number: int) -> str:
    """Of exactly this many bytes, different for each number."""
    start = f"{number}:"[:size]
    each = len(letter.encode())
    return start + letter * ((size - len(start)) // each) + "." * ((size - len(start)) % each)


def import_rows(project: Deployment, rows: list[Row]) -> None:
    batch: list[Row] = []
    size = 0
    for row in rows:
        if batch and (size + len(row["body"].encode()) > IMPORT_BYTES or len(batch) == 1000):
            project.insert_many("inbox", batch)
            batch, size = [], 0
        batch.append(row)
        size += len(row["body"].encode())
    if batch:
        project.insert_many("inbox", batch)


class Moved:
    """What happened after `start`: the transactions that have moved rows, and their shares of the limits."""

    def __init__(self, project: Deployment) -> None:
        with project.trace(scheduled=True) as work:
            assert project.mutation("archive:start") is None
            project.advance(seconds=20)
        assert [call.error for call in work.calls if call.error] == []
        self.transactions = [call for call in work.calls if call.kind == "mutation" and call.documents_written >= 2]
        self.shares = [
            max(
                call.bytes_read / (16 * MEBIBYTE),
                call.bytes_written / (16 * MEBIBYTE),
                call.documents_read / 32_000,
                call.documents_written / 16_000,
                call.database_queries / 4096,
            )
            for call in self.transactions
        ]
        assert max(self.shares, default=0) <= 1, "a transaction goes beyond a limit"
        assert project.documents("inbox") == []


def check_archive(project: Deployment, rows: list[Row]) -> list[str]:
    """The IDs of the archive."""
    archive = project.documents("archive")
    assert len(archive) == len(rows)
    for document, row in zip(archive, rows, strict=True):
        assert document.keys() == {"_id", "_creationTime", "body"}
        assert document["body"] == row["body"], f"another body than {row['body'][:10]!r}…"
    return [document["_id"] for document in archive]


def test_all_rows_are_moved_in_their_order(project: Deployment) -> None:
    now = project.now()
    rows = [
        {"body": f"body {number}", "remindAt": [now + 86_400_000 * day + number for day in range(1, 1 + number % 4)]}
        for number in range(30)
    ] + [{"body": "", "remindAt": []}]
    import_rows(project, rows)
    moved = Moved(project)
    assert len(moved.transactions) == 1
    ids = check_archive(project, rows)
    assert project.documents("reminders") == []
    for day in (1, 2, 3):
        project.advance(days=1)
        found = sorted(reminder["archiveId"] for reminder in project.documents("reminders"))
        wanted = [
            row_id
            for row_id, row in zip(ids, rows, strict=True)
            for time in row["remindAt"]
            if time < now + 86_400_000 * day + 60_000
        ]
        assert found == sorted(wanted), f"after {day} days"


def test_an_empty_inbox_is_no_problem_and_start_can_be_called_again(project: Deployment) -> None:
    assert Moved(project).transactions == []
    for number in range(2):
        import_rows(project, [{"body": str(number), "remindAt": []}])
        assert len(Moved(project).transactions) == 1
    check_archive(project, [{"body": "0"}, {"body": "1"}])


def test_transactions_are_full_whatever_the_sizes_are(project: Deployment) -> None:
    chance = random.Random(5)
    rows: list[Row] = []
    total = 0
    while total < 21_000_000:
        size = round(100 * 9000 ** chance.random())
        rows.append({"body": text(size, chance.choice(["a", "é", "語"]), len(rows)), "remindAt": []})
        total += size
    import_rows(project, rows)
    moved = Moved(project)
    check_archive(project, rows)
    assert [round(share, 2) for share in moved.shares[:-1] if share < SHARE] == []


def test_the_largest_rows_fit(project: Deployment) -> None:
    rows = [{"body": text(LARGEST, "語", number), "remindAt": []} for number in range(20)]
    import_rows(project, rows)
    moved = Moved(project)
    check_archive(project, rows)
    assert [round(share, 2) for share in moved.shares[:-1] if share < SHARE] == []


def test_many_reminders_take_several_transactions(project: Deployment) -> None:
    chance = random.Random(7)
    later = project.now() + 30 * 86_400_000
    rows: list[Row] = []
    scheduled = 0
    while scheduled < 2100:
        count = chance.choice([0, 1, 5, 40, 40])
        rows.append({"body": text(50, "a", len(rows)), "remindAt": [later] * count})
        scheduled += count
    import_rows(project, rows)
    moved = Moved(project)
    ids = check_archive(project, rows)
    assert len(moved.transactions) <= math.floor(scheduled / (SHARE * MOST_SCHEDULED)) + 1
    pending = [job.args for job in project.scheduled() if job.state == "pending"]
    assert len(pending) == scheduled
    named = sorted(str(value) for args in pending for value in args.values() if value in set(ids))
    if named:  # what the arguments are is up to the answer
        assert named == sorted(i for i, row in zip(ids, rows, strict=True) for _ in row["remindAt"])


def test_what_goes_on_later_is_a_scheduled_function_too(project: Deployment) -> None:
    """25 of these rows schedule 1,000 functions: a transaction that moves them cannot schedule the next one."""
    later = project.now() + 30 * 86_400_000
    rows = [{"body": str(number), "remindAt": [later] * 40} for number in range(50)]
    import_rows(project, rows)
    moved = Moved(project)
    check_archive(project, rows)
    assert len(moved.transactions) <= math.floor(2000 / (SHARE * MOST_SCHEDULED)) + 1
    assert len([job for job in project.scheduled() if job.state == "pending"]) == 2000


def test_clients_can_call_one_function_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"archive:start": "mutation"}
    assert project.crons() == {}
    with project.fails("ArgumentValidationError"):
        project.mutation("archive:start", more=1)


def test_the_tables_are_as_described(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer, tables=["inbox", "archive", "reminders"])
