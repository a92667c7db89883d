"""A database as version 0003 of the tables had it, with real logs of every step (`recorded_0003.json`)."""

import hashlib
import json
import shutil
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, create_engine, insert

from convex_evals.scores.database import find_location
from convex_evals.scores.schema import MIGRATIONS, Revisions, upgrade_schema

RECORDED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "recorded_0003.json").read_bytes())
RUN = "r" * 32
NOW = datetime(2026, 11, 17, tzinfo=UTC)


def until(folder: Path, revision: str) -> Revisions:
    """The history as it was when `revision` was its newest."""
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "versions").glob("v*.py"):
        if path.stem[1:5] > revision:
            path.unlink()
    return Revisions(folder)


def write_old_database(where: str, folder: Path) -> None:
    """One run in which each recorded step is an attempt of its own. `folder` is new."""
    location = find_location(where)
    upgrade_schema(location, until(folder, "0003"))
    engine = create_engine(location.url)
    try:
        with engine.begin() as connection:
            tables = MetaData()
            tables.reflect(connection)
            _write_run(connection, tables)
            for number, step in enumerate(RECORDED):
                _write_step(connection, tables, f"{number:032}", step)
    finally:
        engine.dispose()


def attempt_id(number: int) -> str:
    return f"{number:032}"


def _write_run(connection: Connection, tables: MetaData) -> None:
    def write(table: str, **values: object) -> None:
        connection.execute(insert(tables.tables[table]).values(**values))

    write("models", id=1, name="old", provider="p", created_at=NOW)
    times = {"started_at": NOW, "finished_at": NOW}
    about = {"experiment": "default", "trials": 1, "options": {}, "labels": [], "status": "completed", **times}
    write("runs", id=RUN, model_id=1, **about)
    for number, _ in enumerate(RECORDED):
        write("planned_evals", run_id=RUN, eval=f"000-old/{number:03}")


def _write_step(connection: Connection, tables: MetaData, attempt: str, step: dict[str, Any]) -> None:
    def write(table: str, **values: object) -> None:
        connection.execute(insert(tables.tables[table]).values(**values))

    log = step["log"].encode()
    name, passed = hashlib.sha256(log).hexdigest(), step["status"] == "passed"
    ended = {"started_at": NOW, "finished_at": NOW, "notes": [], "status": step["status"]}
    counted = {"tests_passed": step["tests"][0], "tests_total": step["tests"][1]}
    place = {"run_id": RUN, "eval": f"000-old/{int(attempt):03}", "trial": 1, "number": 1}
    failed = {"failed_step": None if passed else step["name"], "failure": step["failure"]}
    write("attempts", id=attempt, **place, **ended, **counted, **failed)
    write("artifacts", sha256=name, size=len(log), created_at=NOW)
    write("artifact_chunks", sha256=name, position=0, content=zlib.compress(log))
    said = {"failure": step["failure"], "excerpt": step["excerpt"], "commands": [], "notes": [], "log": name}
    took = {"duration_ms": 1.0, "cpu_ms": 1.0, "recorded_at": NOW}
    write("steps", attempt_id=attempt, name=step["name"], status=step["status"], **said, **took)
