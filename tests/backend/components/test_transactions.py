"""One transaction across borders: what a failed call wrote is undone, and nothing else."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_caught_failure_undoes_the_callee_alone(local: Any) -> None:
    caught = await local.run("notes:surviveFailure")
    assert caught["message"].startswith("Uncaught Error: no more paper\n")
    assert await local.run("notes:listEverywhere") == {
        "app": ["before", "after"],
        "first": ["before", "after"],
        "second": [],
        "inner": [],
    }
    assert await local.run("ticks:jobs", "notebook") == []


async def test_the_data_of_a_convex_error_crosses_the_border(local: Any) -> None:
    data = {"code": "PAPER", "left": 0.0}
    assert (await local.run("notes:surviveFailure", data=data))["data"] == data


async def test_an_uncaught_failure_undoes_everything(local: Any) -> None:
    before = await local.run("notes:listEverywhere")
    assert "no more paper" in await local.failure("notes:failDeepInside")
    assert await local.run("notes:listEverywhere") == before


async def test_callers_and_callees_share_limits_and_the_clock(local: Any) -> None:
    before = local.deployment.log.cursor
    await local.run("notes:addEverywhere", text="measured")
    entries = local.deployment.log.after(before).entries
    (request,) = {entry.request_id for entry in entries if entry.identifier == "notes:addEverywhere"}
    own = [entry for entry in entries if entry.request_id == request]  # cron jobs of the components run meanwhile
    assert sum(entry.usage.database_write_documents for entry in own) == 4
