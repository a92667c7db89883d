"""Server-sent events: one look at the scores for all who listen."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from convex_evals.scores import Change, ScoresStore, differences
from convex_evals.web import Site, events
from convex_evals.web.events import Broadcast

FIRST = "000-basics/000-first"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.3)


@asynccontextmanager
async def listening(client: httpx2.AsyncClient, **parameters: str) -> AsyncIterator[list[str]]:
    """The lines that arrive meanwhile; it begins when the first is there."""
    lines: list[str] = []
    begun = asyncio.Event()

    async def listen() -> None:
        async with client.stream("GET", "/api/v1/events", params=parameters) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for line in answer.aiter_lines():
                lines.append(line)
                begun.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(begun.wait(), 60)
    try:
        yield lines
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def kinds(lines: list[str]) -> list[str]:
    return [json.loads(line.removeprefix("data: "))["kind"] for line in lines if line.startswith("data: ")]


async def test_events_are_reported_as_they_happen(
    client: httpx2.AsyncClient, record: Any, store: ScoresStore, until: Callable[..., Any]
) -> None:
    async with listening(client) as lines:
        await until(lambda: ": still here" in lines)
        run_id = record.begin()
        await until(lambda: "run created" in kinds(lines))
        record.attempt(run_id, FIRST)
        await until(lambda: "attempt finished" in kinds(lines))
        store.finish_run(run_id, "stopped")
        await until(lambda: "run finished" in kinds(lines))
    assert "event: change" in lines


async def test_what_happens_right_after_a_stream_has_opened_is_reported(
    client: httpx2.AsyncClient, record: Any, site: Site, monkeypatch: pytest.MonkeyPatch, until: Callable[..., Any]
) -> None:
    """However long the first look at the scores takes."""
    run_id, count = record.begin(), site.store.changes.count

    def slow_count() -> int:
        time.sleep(0.5)
        return count()

    monkeypatch.setattr(site.store.changes, "count", slow_count)
    async with listening(client) as lines:
        record.attempt(run_id, FIRST)
        await until(lambda: "attempt finished" in kinds(lines))


async def test_who_listens_to_one_run_hears_of_no_other(
    client: httpx2.AsyncClient, record: Any, until: Callable[..., Any]
) -> None:
    chosen, other = record.begin(), record.begin()
    async with listening(client, run=chosen) as lines, listening(client, run=other) as others:
        await until(lambda: ": still here" in lines and ": still here" in others)
        record.attempt(chosen, FIRST)
        await until(lambda: "attempt finished" in kinds(lines))
        assert kinds(others) == ["ready"]


async def test_one_poll_serves_all_listeners_and_none_runs_without_them(
    site: Site, monkeypatch: pytest.MonkeyPatch, until: Callable[..., Any]
) -> None:
    looks, asked = 0, list[str]()
    changes = site.store.changes
    count, pulse = changes.count, changes.pulse

    def counted() -> int:
        nonlocal looks
        looks += 1
        return count()

    monkeypatch.setattr(changes, "count", counted)
    monkeypatch.setattr(changes, "pulse", lambda: asked.append("what happened?") or pulse())
    broadcast = Broadcast(site, seconds=0.05)
    streams = [broadcast.stream() for _ in range(200)]
    for stream in streams:
        await anext(stream)
    assert broadcast.listeners == 200
    await until(lambda: looks >= 3)
    before = looks
    await asyncio.sleep(0.2)
    assert looks - before <= 10  # 200 listeners with a look of their own would have 800
    assert len(asked) == 1  # as long as nothing did
    for stream in streams:
        await stream.aclose()
    assert broadcast.listeners == 0
    await asyncio.sleep(0.1)
    after = looks
    await asyncio.sleep(0.2)
    assert looks == after


async def test_an_unknown_run_cannot_be_listened_to(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/api/v1/events?run=abcdef")).status_code == 404


def test_differences_say_what_happened_in_between(record: Any, store: ScoresStore) -> None:
    empty = store.changes.pulse()
    run_id = record.begin()
    begun = store.changes.pulse()
    attempt = store.begin_attempt(run_id, FIRST)
    trying = store.changes.pulse()
    store.record_step(attempt.id, record.steps(True)[0])
    stepped = store.changes.pulse()
    store.finish_run(run_id, "stopped")
    over = store.changes.pulse()
    store.resume_run(run_id)
    told = [differences(*pair) for pair in ((empty, begun), (begun, trying), (trying, stepped), (stepped, over))]
    assert [[each.kind for each in some] for some in told] == [
        ["run created"],
        ["attempt begun"],
        ["step finished"],
        ["attempt finished", "run finished"],
    ]
    assert list(differences(over, store.changes.pulse())) == [Change("run resumed", run_id)]
