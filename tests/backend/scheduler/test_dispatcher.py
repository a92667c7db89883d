"""The order and number of what is started, without any function: rows are marked as done in Python."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from convex_evals.backend.canonical_urls import CanonicalUrls
from convex_evals.backend.database import Database
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.state import write_paused
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.runtime import FunctionRuntime
from convex_evals.backend.scheduler import dispatcher as dispatching
from convex_evals.backend.scheduler.dispatcher import Dispatcher
from convex_evals.backend.scheduler.planned import Planned

TABLE = "_scheduled_jobs"

Until = Callable[..., Awaitable[None]]


class Rows:
    """Rows named by a number, and a dispatcher over them that notes which it started."""

    def __init__(self) -> None:
        self.database = Database.open(None)
        urls = CanonicalUrls("http://127.0.0.1:1", "http://127.0.0.1:2")
        host = Host(self.database, FunctionRuntime(), FunctionLog(), "local", urls)
        self.dispatcher = Dispatcher(host, TABLE, self._run, time.time_ns)
        self.started: list[object] = []
        self.work: Callable[[], Awaitable[None]] = asyncio.Event().wait  # type: ignore[assignment]
        self.database.on_commit(lambda _: self.dispatcher.wake())

    def insert(self, *seconds_from_now: float) -> None:
        transaction = self.database.begin()
        for number, seconds in enumerate(seconds_from_now):
            due = time.time_ns() + round(seconds * 1e9)
            transaction.system.insert("", TABLE, {"number": number, "nextTs": due})
        self.database.commit(transaction)

    def pause(self, paused: bool) -> None:
        transaction = self.database.begin()
        write_paused(transaction, paused)
        self.database.commit(transaction)

    async def _run(self, planned: Planned) -> None:
        row = self.database.begin().system.get("", TABLE, planned.key.id)
        assert row is not None
        self.started.append(row.value["number"])
        await self.work()
        transaction = self.database.begin()
        transaction.system.delete("", TABLE, planned.key.id)
        self.database.commit(transaction)


@pytest.fixture
async def rows() -> AsyncIterator[Rows]:
    rows = Rows()
    loop = asyncio.create_task(rows.dispatcher.loop())
    yield rows
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    await rows.dispatcher.stop()


async def _at_once() -> None:
    return None


async def test_rows_start_in_the_order_they_are_due_and_not_before(rows: Rows, until: Until) -> None:
    rows.work = _at_once
    inserted = time.time()
    rows.insert(-1, -3, -2, 0.05)
    await until(lambda: len(rows.started) == 4)
    assert rows.started == [1, 2, 0, 3]
    assert time.time() - inserted >= 0.05


async def test_what_does_not_end_leaves_room_for_seven_others(rows: Rows, until: Until) -> None:
    rows.insert(*range(-20, 0))
    await until(lambda: len(rows.started) >= 8)
    await asyncio.sleep(0.01)
    assert rows.started == list(range(8))


async def test_a_paused_deployment_starts_nothing_until_it_goes_on(rows: Rows, until: Until) -> None:
    rows.work = _at_once
    rows.pause(True)
    rows.insert(-1)
    await asyncio.sleep(0.05)
    assert rows.started == []
    rows.pause(False)
    await until(lambda: rows.started == [0])


async def test_a_run_that_breaks_is_tried_again_and_disturbs_no_other(
    rows: Rows, until: Until, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dispatching, "REST_SECONDS", 0.02)
    broken = iter([True])

    async def break_once() -> None:
        if next(broken, False):
            raise RuntimeError("broken")

    rows.work = break_once
    rows.insert(-2, -1)
    await until(lambda: rows.database.begin().system.scan("", TABLE) == [])
    assert rows.started == [0, 1, 0]
    assert "could not be run" in caplog.text


async def test_stopping_ends_what_runs_and_leaves_its_row(rows: Rows, until: Until) -> None:
    rows.insert(-1)
    await until(lambda: rows.started == [0])
    await rows.dispatcher.stop()
    assert len(rows.database.begin().system.scan("", TABLE)) == 1
