"""The order and number of what is started, without any function: rows are marked as done in Python."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from convex_evals.backend.database import Database
from convex_evals.backend.deployed import Application, ComponentInstance, UdfConfig
from convex_evals.backend.environment import CanonicalUrls, write_paused
from convex_evals.backend.functions.host import Host
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.runtime import FunctionRuntime
from convex_evals.backend.scheduler import dispatcher as dispatching
from convex_evals.backend.scheduler.dispatcher import Dispatcher, Planned, backoff_seconds, namespaces, planned_rows

TABLE = "_scheduled_jobs"

Until = Callable[..., Awaitable[None]]
APPLICATION = Application(
    version=1,
    udf_config=UdfConfig("1.44.0", b"", 0),
    definitions={},
    instances={
        "": ComponentInstance("", "", ""),
        "counter": ComponentInstance("c1", "counter", "counter"),
        "gone": ComponentInstance("c2", "gone", "gone", state="unmounted"),
    },
)


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


async def test_a_paused_deployment_starts_nothing_until_it_is_resumed(rows: Rows, until: Until) -> None:
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


def database_with(*rows: tuple[str, str, int | None]) -> Database:
    database = Database.open(None)
    transaction = database.begin()
    for namespace, name, due in rows:
        transaction.system.insert(namespace, TABLE, {"udfPath": name, "nextTs": due})
    database.commit(transaction)
    return database


def names(database: Database, application: Application | None, limit: int = 10) -> list[object]:
    transaction = database.begin()
    found = planned_rows(transaction, application, TABLE, limit)
    rows = [transaction.system.get(row.key.namespace, TABLE, row.key.id) for row in found]
    return [row.value["udfPath"] for row in rows if row is not None]


def test_rows_of_every_component_come_in_the_order_they_are_due() -> None:
    database = database_with(("", "third", 30), ("c1", "first", 10), ("c2", "second", 20))
    assert names(database, APPLICATION) == ["first", "second", "third"]
    assert names(database, APPLICATION, limit=2) == ["first", "second"]


def test_of_rows_due_at_once_the_oldest_comes_first() -> None:
    database = database_with(("c1", "first", 10), ("", "second", 10), ("c1", "third", 10))
    assert names(database, APPLICATION) == ["first", "second", "third"]


def test_rows_that_are_over_are_not_planned() -> None:
    assert names(database_with(("", "over", None), ("", "planned", 10)), APPLICATION) == ["planned"]


def test_a_deployment_without_an_application_has_the_namespace_of_the_app() -> None:
    assert namespaces(None) == [""]
    assert namespaces(APPLICATION) == ["", "c1", "c2"]


@pytest.mark.parametrize(("failures", "most"), [(0, 0.5), (1, 1.0), (4, 8.0), (5, 15.0), (10_000, 15.0)])
def test_the_wait_doubles_up_to_the_longest(failures: int, most: float) -> None:
    assert all(most / 2 <= backoff_seconds(failures, first=0.5, longest=15.0) <= most for _ in range(50))
