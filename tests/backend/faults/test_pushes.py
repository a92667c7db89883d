"""Pushes that meet each other, that nobody finishes, and that happen while functions run."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = dict[str, Any]
Bundle = Callable[[Mapping[str, str]], list[Json]]
Hold = Callable[[str], Any]
Join = Callable[[Deployment], Awaitable[Any]]
Until = Callable[..., Awaitable[None]]

IMPORTS = """
import {
  actionGeneric as action, queryGeneric as query, mutationGeneric as mutation, defineSchema, defineTable,
} from "convex/server";
import { v } from "convex/values";
"""
NAMES = """
export const name = query(async () => NAME);
export const fill = mutation(async (ctx) => { await ctx.db.insert("things", { size: 1 }); });
export const held = query(async (ctx) => { await ctx.db.query("things").first(); throw new Error(NAME); });
export const wait = action(async (ctx) => {
  console.log("waiting");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  throw new Error(NAME);
});
"""


def project(name: str, size: str = "v.number()") -> dict[str, str]:
    schema = f"export default defineSchema({{ things: defineTable({{ size: {size} }}) }});"
    return {"app.ts": f"{IMPORTS}const NAME = {name!r};{NAMES}", "schema.ts": IMPORTS + schema}


class Push:
    """One push, step by step."""

    def __init__(self, client: httpx2.AsyncClient, modules: list[Json]) -> None:
        self._client = client
        self._modules = modules
        self.started: Json = {}

    async def start(self) -> None:
        schema = next(module for module in self._modules if module["path"] == "schema.js")
        app = {
            "definition": None,
            "dependencies": [],
            "schema": schema,
            "changedModules": [module for module in self._modules if module is not schema],
            "unchangedModuleHashes": [],
            "udfServerVersion": "1.44.0",
        }
        body = {"functions": "convex/", "appDefinition": app, "componentDefinitions": [], "nodeDependencies": []}
        response = await self._post("start_push", {"dryRun": False, **body})
        assert response.status_code == 200, response.text
        self.started = response.json()

    async def schema(self) -> str:
        response = await self._post("wait_for_schema", {"schemaChange": self.started["schemaChange"]})
        return str(response.json()["type"])

    async def finish(self) -> httpx2.Response:
        return await self._post("finish_push", {"startPush": self.started, "dryRun": False})

    async def _post(self, step: str, body: Json) -> httpx2.Response:
        return await self._client.post(f"/api/deploy2/{step}", json=body)


@pytest_asyncio.fixture(loop_scope="module")
async def empty() -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def pushing(empty: Deployment, bundle: Bundle) -> AsyncIterator[Callable[..., Push]]:
    """`pushing(name)` is a push of a project whose query `app:name` says that name."""
    headers = {"Authorization": f"Convex {empty.admin_key}"}
    async with httpx2.AsyncClient(base_url=empty.url, headers=headers, timeout=60) as client:
        yield lambda name, size="v.number()": Push(client, bundle(project(name, size)))


async def name_of(deployment: Deployment) -> str | None:
    return (await deployment.query("app:name")).value


STEPS = ["start", "schema", "finish"]
INTERLEAVINGS = sorted({order for order in itertools.permutations("AAABBB") if order[0] == "A"})


@pytest.mark.parametrize("order", INTERLEAVINGS, ids="".join)
async def test_two_pushes_in_any_order_leave_one_of_them(
    empty: Deployment, pushing: Callable[..., Push], order: tuple[str, ...]
) -> None:
    pushes = {name: pushing(name) for name in "AB"}
    steps = {name: iter(STEPS) for name in "AB"}
    finished = []
    for name in order:
        answer = await getattr(pushes[name], next(steps[name]))()
        if isinstance(answer, httpx2.Response) and answer.status_code == 200:
            finished.append(name)
    assert finished
    assert await name_of(empty) == f'"{finished[-1]}"'
    assert (await empty.mutation("app:fill")).succeeded


async def test_a_push_overtaken_by_another_schema_is_reported(empty: Deployment, pushing: Callable[..., Push]) -> None:
    first, second = pushing("first"), pushing("second", "v.optional(v.number())")
    await first.start()
    await second.start()
    assert await first.schema() == "raceDetected"
    assert await second.schema() == "complete"
    assert (await second.finish()).status_code == 200
    refused = await first.finish()
    assert refused.status_code == 400
    assert await name_of(empty) == '"second"'


async def test_many_pushes_at_once_all_end(empty: Deployment, pushing: Callable[..., Push]) -> None:
    async def push(name: str) -> tuple[str, int]:
        one = pushing(name)
        await one.start()
        await one.schema()
        return name, (await one.finish()).status_code

    ended = await asyncio.wait_for(asyncio.gather(*(push(str(n)) for n in range(6))), 100)
    finished = {name for name, status in ended if status == 200}
    assert finished and {status for _, status in ended} <= {200, 400}
    assert str(await name_of(empty)).strip('"') in finished


async def test_a_push_that_is_never_finished_does_no_harm(empty: Deployment, pushing: Callable[..., Push]) -> None:
    current = pushing("current")
    await current.start()
    assert (await current.finish()).status_code == 200
    await empty.mutation("app:fill")
    abandoned = [pushing(f"abandoned{number}", "v.string()") for number in range(10)]
    for push in abandoned:
        await push.start()
    assert await name_of(empty) == '"current"'
    assert (await empty.mutation("app:fill")).succeeded
    following = pushing("following")
    await following.start()
    assert await following.schema() == "complete"
    assert (await following.finish()).status_code == 200
    assert await name_of(empty) == '"following"'
    late = await abandoned[0].finish()
    assert (late.status_code, late.json()["code"]) == (400, "RaceDetected")
    assert await name_of(empty) == '"following"'


async def test_a_push_is_finished_once(empty: Deployment, pushing: Callable[..., Push]) -> None:
    push = pushing("once")
    await push.start()
    assert (await push.finish()).status_code == 200
    again = await push.finish()
    assert (again.status_code, again.json()["code"]) == (400, "RaceDetected")


async def test_calls_end_with_the_code_they_began_with(
    empty: Deployment, pushing: Callable[..., Push], hold: Hold, until: Until
) -> None:
    """However many pushes happen meanwhile, and although the lines of their errors are looked up at the end."""
    gate = hold("query/fetch")
    await _push(pushing("old"))
    acting = asyncio.create_task(empty.action("app:wait"))
    await until(lambda: any(entry.log_lines for entry in empty.log.after(0).entries))
    reading = asyncio.create_task(empty.query("app:held"))
    await gate.reached.wait()
    for number in range(6):
        await _push(pushing(f"new{number}"))
    gate.opened.set()
    for call in (reading, acting):
        failure = (await call).failure
        assert failure is not None
        assert failure.message.startswith("Uncaught Error: old\n    at ")
    assert await name_of(empty) == '"new5"'


async def _push(push: Push) -> None:
    await push.start()
    assert (await push.finish()).status_code == 200


async def test_clients_follow_pushes_while_they_write(
    empty: Deployment, pushing: Callable[..., Push], join: Join
) -> None:
    await _push(pushing("0"))
    client = await join(empty)
    await client.subscribe("app:name")
    for number in range(1, 5):
        writing = [asyncio.create_task(empty.mutation("app:fill")) for _ in range(10)]
        await _push(pushing(str(number)))
        while await client.value() != str(number):
            pass
        assert all(outcome.succeeded for outcome in await asyncio.gather(*writing))
