"""The measurements of `convex-evals bench backend`, and the small project that they push."""

import asyncio
import contextlib
import json
import shutil
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import psutil

from convex_evals.backend.conformance import FunctionClient, SyncClient
from convex_evals.backend.deployment import Deployment
from convex_evals.core import convex_versions
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.toolchain import Toolchain

DEPLOYMENTS: Final = 4
SETTLED_SECONDS: Final = 0.5  # workers make their spare contexts ready after they start
ROWS = 10_000
PAGE = 500
CLIENTS, MUTATIONS = 32, 50
Say = Callable[[str], None]

ESBUILD_OPTIONS = (
    "--bundle",
    "--format=esm",
    "--target=esnext",
    "--platform=browser",
    "--conditions=convex,module",
    "--minify-syntax",
    "--minify-identifiers",
    "--keep-names",
    "--sourcemap=external",
    '--define:process.env.NODE_ENV="production"',
    "--log-level=error",
)
GENERATED_SERVER = (
    'export { queryGeneric as query, mutationGeneric as mutation, actionGeneric as action } from "convex/server";\n'
)


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds."""

    count: int
    median: float
    p99: float
    total: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "Timings":
        ordered = sorted(milliseconds)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        return cls(len(ordered), statistics.median(ordered), p99, sum(ordered))

    def to_json(self) -> dict[str, object]:
        return {
            "count": self.count,
            "medianMs": round(self.median, 3),
            "p99Ms": round(self.p99, 3),
            "totalMs": round(self.total, 3),
        }


async def timed(times: int, act: Callable[[int], Awaitable[object]], *, warm_up: int = 0) -> Timings:
    """Calls `act(n)` repeatedly, one call at a time; the first `warm_up` calls are not counted."""
    found = []
    for n in range(-warm_up, times):
        start = time.perf_counter()
        await act(n)
        if n >= 0:
            found.append((time.perf_counter() - start) * 1000)
    return Timings.of(found)


@dataclass(frozen=True, slots=True)
class IdleMemory:
    """Megabytes per deployment. `resident` counts pages that processes share once for each, `proportional` once."""

    resident: float
    proportional: float

    def __sub__(self, other: "IdleMemory") -> "IdleMemory":
        return IdleMemory(self.resident - other.resident, self.proportional - other.proportional)


async def idle_memory() -> IdleMemory:
    """The difference that more deployments make, without what all of them share."""
    async with _deployments(1):
        before = _memory_in_use()
        async with _deployments(DEPLOYMENTS):
            more = _memory_in_use() - before
    return IdleMemory(more.resident / DEPLOYMENTS, more.proportional / DEPLOYMENTS)


@asynccontextmanager
async def _deployments(count: int) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for _ in range(count):
            await stack.enter_async_context(Deployment.start())
        await asyncio.sleep(SETTLED_SECONDS)
        yield


def _memory_in_use() -> IdleMemory:
    own, memory = psutil.Process(), []
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            memory.append(process.memory_full_info())
    # Only Linux divides shared pages among the processes that map them.
    proportional = sum(getattr(each, "pss", each.rss) for each in memory)
    return IdleMemory(sum(each.rss for each in memory) / 1e6, proportional / 1e6)


@dataclass(frozen=True, slots=True)
class BackendFigures:
    start: Timings
    push: Timings
    query_http: Timings
    query_cached: Timings
    query_socket: Timings
    mutation_to_update: Timings
    scheduled: Timings  # from the response of a mutation to the commit of what it scheduled for now
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
            "scheduledCommit": self.scheduled.to_json(),
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
    """Runs all measurements, one at a time, on deployments of its own."""
    say("starting deployments")
    async with contextlib.AsyncExitStack() as started:
        start = await timed(10, lambda _: started.enter_async_context(Deployment.start()), warm_up=1)
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
    scheduled = await _scheduled(deployment, counter)
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
        start,
        push,
        query_http,
        query_cached,
        query_socket,
        mutation_to_update,
        scheduled,
        ranges,
        walk,
        hot,
        value,
        idle,
    )


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


async def _scheduled(deployment: Deployment, counter: str) -> Timings:
    """Zero when the commit came before the response."""
    commits: asyncio.Queue[float] = asyncio.Queue()
    stop = deployment.database.on_commit(lambda _: commits.put_nowait(time.perf_counter()))
    found = []
    async with SyncClient.connect(deployment.url) as client:
        for _ in range(200):
            await client.mutation("bench:schedule", {"id": counter})
            responded = time.perf_counter()
            await commits.get()  # of the mutation itself
            found.append(max(await commits.get() - responded, 0.0) * 1000)
    stop()
    return Timings.of(found)


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


async def start_push_body(toolchain: Toolchain, admin_key: str, workspace: Path) -> bytes:
    """The body of `start_push` for the bench app."""
    project = workspace / "bundled"
    with as_file(files("convex_evals.backend.bench") / "app") as app:
        shutil.copytree(app, project)
    (project / "convex/_generated").mkdir()
    (project / "convex/_generated/server.js").write_text(GENERATED_SERVER)
    (project / "convex.config.js").write_text(
        'import { defineApp } from "convex/server";\nexport default defineApp();\n'
    )
    (project / "node_modules").symlink_to(toolchain.packages.node_modules)
    modules = {name: await _bundle(toolchain, project, name) for name in ("convex/bench.ts", "convex/schema.ts")}
    definition = await _bundle(toolchain, project, "convex.config.js")
    return json.dumps(
        {
            "adminKey": admin_key,
            "dryRun": False,
            "functions": "convex/",
            "appDefinition": {
                "definition": definition,
                "dependencies": [],
                "schema": modules["convex/schema.ts"],
                "changedModules": [modules["convex/bench.ts"]],
                "unchangedModuleHashes": [],
                "udfServerVersion": convex_versions.DEFAULT,
            },
            "componentDefinitions": [],
            "nodeDependencies": [],
        }
    ).encode()


async def _bundle(toolchain: Toolchain, project: Path, entry: str) -> dict[str, str]:
    target = project / "out" / Path(entry).with_suffix(".js").name
    result = await run(
        [toolchain.binary("esbuild"), entry, f"--outfile={target}", *ESBUILD_OPTIONS],
        cwd=project,
        timeout=30,
        environment=base_environment(project),
    )
    if not result.ok:
        raise InfrastructureError(f"The bench app could not be bundled: {result.output.text}")
    source_map = target.with_suffix(".js.map").read_text()
    return {"path": target.name, "source": target.read_text(), "sourceMap": source_map, "environment": "isolate"}
