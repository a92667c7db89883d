"""A runtime with real workers, and a bridge that plays the database with plain lists."""

import itertools
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
import pytest_asyncio

from convex_evals.backend.deployed import (
    Application,
    ComponentDefinition,
    Environment,
    FunctionPath,
    Module,
    UdfConfig,
)
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.runtime import (
    Execution,
    FunctionRuntime,
    HttpAnswer,
    HttpRequestHead,
    Outcome,
    StoredBlob,
    SyscallReply,
    SyscallRequest,
)

BUNDLES = Path(__file__).parent / "bundles" / "out"
CASES = Path(__file__).parent / "cases"
CASE = re.compile(r"^// (?P<title>.+)\n(?P<body>(?:.*\n)+?)//=> (?P<expected>.+)$", re.MULTILINE)
IMPORT_MS = 1_700_000_000_000
NOW_MS = 1_800_000_000_000.0
VERSIONS = itertools.count(0, 1000)


def read_bundles() -> dict[str, Module]:
    modules = {}
    environments: tuple[Environment, ...] = ("isolate", "node")
    for environment in environments:
        root = BUNDLES / environment
        for file in root.rglob("*.js"):
            path = file.relative_to(root).as_posix()
            modules[path] = Module(path, file.read_text(), Path(f"{file}.map").read_text(), environment)
    return modules


@dataclass
class RecordingBridge:
    """Answers syscalls from `rows`, inserts into it, and remembers everything that was asked."""

    rows: list[Any] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)
    pulls: dict[int, int] = field(default_factory=dict)
    blobs: dict[str, StoredBlob] = field(default_factory=dict)
    replies: dict[str, Callable[[Any], SyscallReply]] = field(default_factory=dict)
    on_call: Callable[[Any], Any] | None = None
    _positions: dict[int, tuple[int, int]] = field(default_factory=dict)

    def call_now(self, name: str, args: str) -> str:
        if name == "1.0/db/normalizeId":
            given = orjson.loads(args)["idString"]
            return orjson.dumps({"id": given if given.startswith("m") else None}).decode()
        raise DeveloperError(f"Unknown operation {name}")

    async def call(self, calls: Sequence[SyscallRequest]) -> Sequence[SyscallReply]:
        self.batches.append([call.name for call in calls])
        return [await self._reply(call) for call in calls]

    async def _reply(self, call: SyscallRequest) -> SyscallReply:
        args = orjson.loads(call.args)
        if call.name in self.replies:
            return self.replies[call.name](args)
        if call.name == "query/fetch":
            return self.fetch(args)
        if call.name == "1.0/insert":
            self.rows.append({"_id": f"m{len(self.rows)}", **args["value"]})
            return SyscallReply(orjson.dumps({"_id": self.rows[-1]["_id"]}).decode())
        if call.name in ("1.0/actions/query", "1.0/actions/mutation", "1.0/runUdf") and self.on_call:
            reply: SyscallReply = await self.on_call(args)
            return reply
        return SyscallReply(error=f"Unknown async operation {call.name}")

    def fetch(self, args: Any) -> SyscallReply:
        if "query" in args:
            limits = [operator["limit"] for operator in args["query"]["operators"] if "limit" in operator]
            self._positions[args["queryId"]] = (0, min([*limits, len(self.rows)]))
        start, end = self._positions[args["queryId"]]
        stop = min(start + args["max"], end)
        self._positions[args["queryId"]] = (stop, end)
        return SyscallReply(orjson.dumps({"rows": self.rows[start:stop], "done": stop == end}).decode())

    def pulled(self, counts: Mapping[int, int]) -> None:
        for query, count in counts.items():
            self.pulls[query] = self.pulls.get(query, 0) + count

    async def store_blob(self, content: bytes, content_type: str | None, sha256: str | None) -> str:
        storage_id = f"s{len(self.blobs)}"
        self.blobs[storage_id] = StoredBlob(content, content_type)
        return storage_id

    async def load_blob(self, storage_id: str) -> StoredBlob | None:
        return self.blobs.get(storage_id)


@dataclass
class Stage:
    """Runs functions of the bundles, or of modules written in a test, on one runtime."""

    runtime: FunctionRuntime
    modules: dict[str, Module]
    env: dict[str, str] = field(default_factory=dict)
    version: int = 0

    def deploy(self, modules: Mapping[str, Module] | None = None) -> None:
        self.modules.update(modules or {})
        self.version += 1
        config = UdfConfig("1.44.0", b"\1" * 32, IMPORT_MS)
        definition = ComponentDefinition("", dict(self.modules), {}, None, {})
        self.runtime.load(Application(self.version, config, {"": definition}, {}))

    def deploy_source(self, source: str, path: str = "test.js") -> None:
        self.deploy({path: Module(path, source, None, "isolate")})

    def execution(self, path: str, args: Any = None, kind: str = "query", **options: Any) -> Execution:
        function = FunctionPath.parse(path)
        defaults: dict[str, Any] = {
            "environment": self.modules[function.module].environment if function.module in self.modules else "isolate",
            "now_ms": NOW_MS,
            "seed": b"\2" * 32,
            "env": self.env,
            "request_id": "r1",
        }
        text = orjson.dumps([args or {}]).decode()
        chosen: Any = kind
        return Execution(chosen, self.version, "", function, args=text, **(defaults | options))

    async def run(
        self, path: str, args: Any = None, kind: str = "query", bridge: Any = None, **options: Any
    ) -> Outcome:
        return await self.runtime.run(self.execution(path, args, kind, **options), bridge or RecordingBridge())

    async def evaluate(self, body: str, kind: str = "query", bridge: Any = None, **options: Any) -> Outcome:
        """Runs statements of JavaScript as the body of a function that needs no SDK."""
        marker = {"query": "isQuery", "mutation": "isMutation", "action": "isAction"}[kind]
        entry = {"query": "invokeQuery", "mutation": "invokeMutation", "action": "invokeAction"}[kind]
        self.deploy_source(
            f"export const f = {{ {marker}: true, {entry}: async () => {{\n"
            f"const value = await (async () => {{ {body} }})(); return JSON.stringify(value ?? null); }} }};"
        )
        return await self.run("test:f", kind=kind, bridge=bridge, **options)

    async def value(self, body: str, kind: str = "query", bridge: Any = None, **options: Any) -> Any:
        outcome = await self.evaluate(body, kind, bridge, **options)
        assert outcome.failure is None, outcome.failure
        return orjson.loads(outcome.result or "")

    async def http(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        bridge: Any = None,
        **options: Any,
    ) -> HttpAnswer:
        execution = self.execution("http:default", kind="httpAction", total_seconds=30.0, **options)
        head = HttpRequestHead(method, f"http://127.0.0.1:3211{path}", path.split("?")[0], headers)
        chunks = _one_chunk(body) if body is not None else None
        return await self.runtime.run_http(execution, bridge or RecordingBridge(), head, chunks)


async def _one_chunk(body: bytes) -> AsyncIterator[bytes]:
    yield body


class Case(NamedTuple):
    body: str
    expected: object


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cases(*names): run for every case of cases/<name>.js, as `case`")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("cases")
    if marker is not None:
        metafunc.parametrize("case", [case for name in marker.args for case in read_cases(name)])


def read_cases(name: str) -> Iterator[Any]:
    """A case is a title, statements, and what they return."""
    text = (CASES / f"{name}.js").read_text()
    for match in CASE.finditer(text):
        yield pytest.param(Case(match["body"], orjson.loads(match["expected"])), id=f"{name}: {match['title']}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_runtime() -> AsyncIterator[FunctionRuntime]:
    """For tests that leave the workers as they found them."""
    runtime = FunctionRuntime()
    await runtime.start()
    try:
        yield runtime
    finally:
        await runtime.stop()


@pytest.fixture
def stage(shared_runtime: FunctionRuntime) -> Stage:
    stage = Stage(shared_runtime, read_bundles(), version=next(VERSIONS))
    stage.deploy()
    return stage


@pytest_asyncio.fixture(loop_scope="module")
async def own_stage() -> AsyncIterator[Stage]:
    """With workers of its own, for tests that kill them."""
    runtime = FunctionRuntime()
    await runtime.start()
    stage = Stage(runtime, read_bundles())
    stage.deploy()
    try:
        yield stage
    finally:
        await runtime.stop()


@pytest.fixture
def bridge() -> RecordingBridge:
    return RecordingBridge()
