import time

import pytest

from convex_evals.backend.canonical_urls import CanonicalUrls
from convex_evals.backend.database import Database
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.runtime import FunctionRuntime
from convex_evals.backend.scheduler.retention import Retention
from convex_evals.backend.values import Value

DAY = 86_400 * 1_000_000_000


@pytest.fixture
def functions() -> FunctionRunner:
    urls = CanonicalUrls("http://127.0.0.1:1", "http://127.0.0.1:2")
    return FunctionRunner(Host(Database.open(None), FunctionRuntime(), FunctionLog(), "local", urls))


@pytest.mark.parametrize(
    ("state", "completed_days_ago", "kept"),
    [
        ("success", 6.99, True),
        ("success", 7.01, False),
        ("failed", 8, False),
        ("canceled", 8, False),
        ("pending", None, True),
    ],
)
async def test_finished_jobs_are_kept_for_seven_days(
    functions: FunctionRunner, state: str, completed_days_ago: float | None, kept: bool
) -> None:
    now, database = time.time_ns(), functions.host.database
    completed = None if completed_days_ago is None else now - int(completed_days_ago * DAY)
    row: dict[str, Value] = {"state": {"type": state}, "completedTs": completed, "nextTs": None}
    transaction = database.begin()
    transaction.system.insert("", "_scheduled_jobs", row)
    database.commit(transaction)
    await Retention(functions, lambda: now).collect()
    assert bool(database.begin().system.scan("", "_scheduled_jobs")) == kept
