"""What was scheduled for now is there before a grader, which empties the tables between its tests, can look away."""

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.backend.scheduler.conftest import Scheduled
from tests.examples import exhaustively

often = pytest.mark.parametrize("times", [50, *exhaustively(200)])
TABLES = ("query", "_system/cli/tables", {"paginationOpts": {"numItems": 100, "cursor": None}})


class Administrator:
    """One connection, as a client of a grader keeps it."""

    def __init__(self, connection: http.client.HTTPConnection, key: str) -> None:
        self._connection = connection
        self._headers = {"Authorization": f"Convex {key}", "Content-Type": "application/json"}

    def call(self, kind: str, path: str, args: dict[str, Any]) -> Any:
        body = json.dumps({"path": path, "args": args, "format": "json"})
        self._connection.request("POST", f"/api/{kind}", body, self._headers)
        answer = json.loads(self._connection.getresponse().read())
        assert answer["status"] == "success", answer
        return answer["value"]


@contextmanager
def administrator(scheduled: Scheduled) -> Iterator[Administrator]:
    address = urlsplit(scheduled.deployment.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    try:
        yield Administrator(connection, scheduled.deployment.admin_key)
    finally:
        connection.close()


@often
async def test_a_mutation_scheduled_for_now_commits_before_three_calls_that_follow_its_parent(
    scheduled: Scheduled, times: int
) -> None:
    def lost() -> list[int]:
        missing = []
        with administrator(scheduled) as admin:
            for number in range(times):
                name = f"run {number}"
                admin.call("mutation", "jobs:schedule", {"path": "jobs:record", "args": {"name": name}})
                admin.call(*TABLES)
                admin.call(*TABLES)
                if not admin.call("query", "jobs:runs", {"name": name}):
                    missing.append(number)
        return missing

    assert await asyncio.to_thread(lost) == []


@often
async def test_tables_that_are_emptied_after_a_mutation_stay_empty(scheduled: Scheduled, times: int) -> None:
    def left() -> list[int]:
        found = []
        with administrator(scheduled) as admin:
            for number in range(times):
                name = f"run {number}"
                admin.call("mutation", "jobs:schedule", {"path": "jobs:record", "args": {"name": name}})
                admin.call(*TABLES)
                admin.call(*TABLES)
                admin.call("mutation", "_system/frontend/clearTablePage", {"tableName": "runs", "cursor": None})
                if admin.call("query", "jobs:runs", {"name": name}):
                    found.append(number)
        return found

    assert await asyncio.to_thread(left) == []
