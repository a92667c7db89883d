"""The measurements of `convex-evals bench backend`."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from convex_evals.backend.bench.bundle import start_push_body
from convex_evals.backend.bench.measure import Timings, timed
from convex_evals.backend.bench.memory import IdleMemory, idle_memory
from convex_evals.backend.conformance.client import FunctionClient, SyncClient
from convex_evals.backend.deployment import Deployment
from convex_evals.core.toolchain import Toolchain

ROWS = 10_000
PAGE = 500
CLIENTS, MUTATIONS = 32, 50
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BackendFigures:
    start: Timings
    push: Timings
    query_http: Timings
    query_cached: Timings
    query_socket: Timings
    mutation_to_update: Timings
    range_of_100: Timings
    paginated_walk: Timings
    hot_document: Timings
    hot_document_value: float
    idle: IdleMemory

    def to_json(self) -> dict[str, object]:
        return {
            "start": self.start.to_json(),
            "push": self.push.to_json(),
            "queryHttp": self.query_http.to_json(),
            "queryHttpCached": self.query_cached.to_json(),
            "queryWebSocket": self.query_socket.to_json(),
            "mutationToUpdate": self.mutation_to_update.to_json(),
            "indexedRangeOf100": {"rows": ROWS, **self.range_of_100.to_json()},
            "paginatedWalk": {"rows": ROWS, "pageSize": PAGE, **self.paginated_walk.to_json()},
            "hotDocument": {
                "clients": CLIENTS,
                "mutationsEach": MUTATIONS,
                "value": self.hot_document_value,
                **self.hot_document.to_json(),
            },
            "idleMegabytesPerDeployment": round(self.idle.resident, 1),
            "idleMegabytesPerDeploymentShared": round(self.idle.proportional, 1),
            "ratios": {
                "socketToHttp": round(self.query_socket.median / self.query_http.median, 3),
                "cachedToUncached": round(self.query_cached.median / self.query_http.median, 3),
                "rangeToOneDocument": round(self.range_of_100.median / self.query_http.median, 3),
            },
        }


async def measure_backend(toolchain: Toolchain, say: Say) -> BackendFigures:
    """Everything, one after the other, on deployments of its own."""
    say("starting deployments")
    async with contextlib.AsyncExitStack() as started:
        start = await timed(10, lambda _: _start(started), warm_up=1)
    idle = await idle_memory()
    with TemporaryDirectory(prefix="bench-") as folder:
        async with Deployment.start() as deployment, httpx2.AsyncClient(timeout=120) as http:
            say("pushing")
            body = await start_push_body(toolchain, deployment.admin_key, Path(folder))
            push = await timed(5, lambda _: _push(http, deployment, body), warm_up=1)
            return await _measure_functions(deployment, http, start, push, idle, say)


async def _measure_functions(
    deployment: Deployment, http: httpx2.AsyncClient, start: Timings, push: Timings, idle: IdleMemory, say: Say
) -> BackendFigures:
    client = FunctionClient(http, deployment.url)
    counter = await client.mutation("bench:create", {"name": "hot"})

    def one(salt: int) -> dict[str, Any]:
        return {"id": counter, "salt": float(salt)}

    say("querying")
    query_http = await timed(300, lambda n: client.query("bench:one", one(n)), warm_up=20)
    query_cached = await timed(300, lambda _: client.query("bench:one", one(0)))
    async with SyncClient.connect(deployment.url) as socket:
        query_socket = await timed(300, lambda n: socket.subscribe(("bench:one", one(1_000 + n))), warm_up=20)
    mutation_to_update = await _mutation_to_update(deployment, counter)
    say(f"filling {ROWS} rows")
    for first in range(0, ROWS, 1_000):
        await client.mutation("bench:fill", {"from": float(first), "count": 1_000.0})
    ranges = await timed(
        50, lambda n: client.query("bench:range", {"from": float(n * 150), "salt": float(n)}), warm_up=2
    )
    walk = await timed(1, lambda _: _walk(client))
    say(f"{CLIENTS} clients on one document")
    before = (await client.query("bench:one", one(-1)))["value"]
    hot = await timed(1, lambda _: _hot_document(deployment, counter))
    value = (await client.query("bench:one", one(-2)))["value"] - before
    return BackendFigures(
        start, push, query_http, query_cached, query_socket, mutation_to_update, ranges, walk, hot, value, idle
    )


async def _start(stack: contextlib.AsyncExitStack) -> None:
    await stack.enter_async_context(Deployment.start())


async def _push(http: httpx2.AsyncClient, deployment: Deployment, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "Authorization": f"Convex {deployment.admin_key}"}
    started = await http.post(f"{deployment.url}/api/deploy2/start_push", content=body, headers=headers)
    started.raise_for_status()
    finish = {"adminKey": deployment.admin_key, "startPush": started.json(), "dryRun": False, "message": None}
    finished = await http.post(f"{deployment.url}/api/deploy2/finish_push", json=finish, headers=headers)
    finished.raise_for_status()


async def _mutation_to_update(deployment: Deployment, counter: str) -> Timings:
    """From sending a mutation on one socket to the update arriving on another."""
    async with SyncClient.connect(deployment.url) as writer, SyncClient.connect(deployment.url) as reader:
        (live,) = await reader.subscribe(("bench:one", {"id": counter, "salt": -5.0}))

        async def once(_: int) -> None:
            seen = len(live.updates)
            async with asyncio.TaskGroup() as group:
                group.create_task(writer.mutation("bench:increment", {"id": counter}))
                group.create_task(reader.until(lambda: len(live.updates) > seen))

        return await timed(200, once, warm_up=10)


async def _walk(client: FunctionClient) -> None:
    cursor, seen, done = None, 0, False
    while not done:
        page = await client.query("bench:page", {"paginationOpts": {"numItems": float(PAGE), "cursor": cursor}})
        cursor, done, seen = page["continueCursor"], page["isDone"], seen + len(page["page"])
    assert seen == ROWS, f"the walk saw {seen} rows instead of {ROWS}"


async def _hot_document(deployment: Deployment, counter: str) -> None:
    async def client() -> None:
        async with SyncClient.connect(deployment.url) as socket:
            for _ in range(MUTATIONS):
                await socket.mutation("bench:increment", {"id": counter})

    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(client())
