"""What a server does by itself."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from convex_evals.core.errors import InfrastructureError
from convex_evals.scores import PART, Holder, ScoresStore, artifacts
from convex_evals.scores.leases import Leases
from convex_evals.web.server import keep_up


@pytest.fixture
async def kept_up(store: ScoresStore) -> Any:
    task = asyncio.create_task(keep_up(store, 0.01))
    yield task
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_run_whose_runner_is_gone_is_marked(
    store: ScoresStore, record: Any, kept_up: Any, until: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    run_id, other = record.begin(), record.begin()
    store.leases.renew([other], Holder("desk", "desk.example.com"))
    Leases(store._database, timedelta(seconds=-1)).renew([run_id], Holder("desk", "desk.example.com"))
    await until(lambda: store.find_run(run_id).status == "stopped")
    assert "nothing was heard from its runner (desk.example.com)" in (store.find_run(run_id).reason or "")
    assert store.find_run(other).status == "running"
    await until(lambda: f"nothing is heard from the runner of run {run_id}" in caplog.text)


async def test_parts_whose_sender_never_came_back_are_forgotten(
    store: ScoresStore, kept_up: Any, until: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a" * 64
    store.uploads.put(name, bytes(PART), 0, 2 * PART)
    monkeypatch.setattr(artifacts, "_KEPT_PARTS", timedelta(seconds=-60))
    await until(lambda: store.uploads.missing([name]) == {name: 0})


async def test_unreachable_scores_are_tried_again(
    store: ScoresStore, until: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = 0

    def fails() -> tuple[str, ...]:
        nonlocal looks
        looks += 1
        raise InfrastructureError("The scores cannot be reached.")

    monkeypatch.setattr(store.leases, "end_overdue", fails)
    task = asyncio.create_task(keep_up(store, 0.01))
    await until(lambda: looks >= 3)
    task.cancel()
    assert (logging.ERROR, "The scores cannot be reached.") in [(each.levelno, each.message) for each in caplog.records]
