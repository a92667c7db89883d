from datetime import UTC, datetime

import pytest

from convex_evals.backend.database import Database, Document
from convex_evals.backend.deployed import CronSpec
from convex_evals.backend.push.candidate import CronDiff, update_jobs

SECOND = 1_000_000_000
NOW = int(datetime(2026, 11, 15, 10, 30, tzinfo=UTC).timestamp()) * SECOND
HOURLY: dict[str, object] = {"type": "hourly", "minuteUTC": 0}
INTERVAL: dict[str, object] = {"type": "interval", "seconds": 60}


@pytest.fixture
def database() -> Database:
    return Database.open(None)


def push(database: Database, *specs: CronSpec, now: int = NOW) -> CronDiff:
    transaction = database.begin()
    diff = update_jobs(transaction, "", specs, now)
    database.commit(transaction)
    return diff


def spec(name: str = "tidy", schedule: dict[str, object] = HOURLY, path: str = "m.js:f") -> CronSpec:
    return CronSpec(name, path, "[{}]", schedule)


def next_run(database: Database) -> Document:
    (row,) = database.begin().system.scan("", "_cron_next_run")
    return row


def test_a_new_job_gets_a_row_and_its_first_run(database: Database) -> None:
    assert push(database, spec(), spec("often", INTERVAL)) == CronDiff(added=["tidy", "often"])
    system = database.begin().system
    jobs = {row.value["name"]: row for row in system.scan("", "_cron_jobs")}
    runs = {row.value["cronJobId"]: row.value["nextTs"] for row in system.scan("", "_cron_next_run")}
    assert jobs["tidy"].value["cronSpec"] == {"udfPath": "m.js:f", "udfArgs": b"[{}]", "cronSchedule": HOURLY}
    assert runs == {jobs["tidy"].id: NOW + 1800 * SECOND, jobs["often"].id: NOW}


def test_an_unchanged_job_keeps_its_next_run(database: Database) -> None:
    push(database, spec())
    before = next_run(database)
    assert push(database, spec(), now=NOW + SECOND) == CronDiff()
    assert next_run(database).text == before.text


def test_another_function_keeps_the_time(database: Database) -> None:
    push(database, spec())
    before = next_run(database).value["nextTs"]
    assert push(database, spec(path="m.js:g"), now=NOW + SECOND) == CronDiff(updated=["tidy"])
    assert next_run(database).value["nextTs"] == before


def test_another_schedule_is_planned_again(database: Database) -> None:
    push(database, spec())
    assert push(database, spec(schedule=INTERVAL), now=NOW + SECOND) == CronDiff(updated=["tidy"])
    assert next_run(database).value["nextTs"] == NOW + SECOND


def test_a_run_that_is_about_to_begin_stays_planned(database: Database) -> None:
    push(database, spec())
    planned = next_run(database).value["nextTs"]
    push(database, spec(schedule=INTERVAL), now=NOW + 1775 * SECOND)
    assert next_run(database).value["nextTs"] == planned


def test_a_removed_job_leaves_nothing_behind(database: Database) -> None:
    push(database, spec())
    transaction = database.begin()
    transaction.system.insert("", "_cron_job_logs", {"name": "tidy", "ts": NOW})
    database.commit(transaction)
    assert push(database) == CronDiff(deleted=["tidy"])
    system = database.begin().system
    assert [table for table in ("_cron_jobs", "_cron_next_run", "_cron_job_logs") if system.scan("", table)] == []
