"""A deployment's functions without Node: handlers are Python coroutines that make real syscalls on a real database.

Retries, caching, nesting and accounting do not depend on who executes a function, and are tested here in milliseconds.
`test_bundles.py` runs JavaScript.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.backend.database import Database
from convex_evals.backend.deployed import (
    AnalyzedFunction,
    AnalyzedModule,
    Application,
    ComponentDefinition,
    ComponentInstance,
    CurrentApplication,
    FunctionPath,
    Module,
    UdfConfig,
    UdfType,
    Visibility,
)
from convex_evals.backend.environment import CanonicalUrls
from convex_evals.backend.functions.calls import Call
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.identity import ADMIN
from convex_evals.backend.logs import FunctionLog
from convex_evals.backend.runtime import (
    Execution,
    Failure,
    LogBridge,
    LogLine,
    Outcome,
    SyscallBridge,
    SyscallRequest,
)

ANY = '{"type":"any"}'


class Thrown(Exception):
    """An error in user code. `data` makes it a ConvexError; `fatal` one that nobody can catch."""

    def __init__(self, message: str, data: str | None = None, fatal: bool = False) -> None:
        super().__init__(message)
        self.data = data
        self.fatal = fatal


@dataclass
class Context:
    """What a handler gets instead of `ctx`: syscalls by their wire names."""

    bridge: SyscallBridge
    execution: Execution
    lines: list[LogLine] = field(default_factory=list)
    clock_read: bool = False
    queries: int = 0

    async def call(self, syscall: str, /, **args: Any) -> Any:
        return await self.ask(f"1.0/{syscall}", args)

    async def ask(self, name: str, args: dict[str, Any]) -> Any:
        [reply] = await self.bridge.call([SyscallRequest(name, json.dumps(args))])
        self.lines.extend(reply.log_lines)
        if reply.error is not None:
            raise Thrown(reply.error, reply.error_data, reply.fatal)
        return json.loads(reply.result or "null")

    def now(self, syscall: str, /, **args: Any) -> Any:
        return json.loads(self.bridge.call_now(f"1.0/{syscall}", json.dumps(args)))

    async def collect(self, table: str, index: str | None = None) -> list[Any]:
        source: dict[str, Any] = {"type": "FullTableScan", "tableName": table, "order": None}
        if index is not None:
            source = {"type": "IndexRange", "indexName": f"{table}.{index}", "range": [], "order": None}
        self.queries += 1
        batch: dict[str, Any] = {"done": False}
        rows: list[Any] = []
        while not batch["done"]:
            query = {"source": source, "operators": []}
            batch = await self.ask("query/fetch", {"queryId": self.queries, "max": 2, "query": query})
            rows += batch["rows"]
            self.bridge.pulled({self.queries: len(batch["rows"]) + batch["done"]})
        return rows

    def log(self, text: str) -> None:
        line = LogLine("LOG", (f"'{text}'",), 1.0)
        self.lines.append(line)
        if isinstance(self.bridge, LogBridge):
            self.bridge.logged([line])


Handler = Callable[[Context, dict[str, Any]], Awaitable[Any]]


class ScriptedRuntime:
    def __init__(self) -> None:
        self.handlers: dict[FunctionPath, Handler] = {}
        self.executions: list[Execution] = []

    @asynccontextmanager
    async def quarantine(self) -> AsyncIterator[None]:
        yield

    async def run(self, execution: Execution, bridge: SyscallBridge, *, quarantined: bool = False) -> Outcome:
        self.executions.append(execution)
        handler = self.handlers[execution.path]
        context = Context(bridge, execution)
        try:
            [args] = json.loads(execution.args)
            result = await handler(context, args)
        except Thrown as error:
            name = "ConvexError" if error.data is not None else "Error"
            message = str(error) if error.fatal else f"Uncaught {name}: {error}\n    at handler (../convex/a.ts:1:1)\n"
            return Outcome(None, Failure(message, error.data, not error.fatal), context.lines, 1.0)
        return Outcome(json.dumps(result), None, context.lines, 1.0, clock_read=context.clock_read)


class World:
    """Functions by decorator, and one `FunctionRunner` over them."""

    def __init__(self) -> None:
        self.database = Database.open(None)
        self.runtime = ScriptedRuntime()
        self.log = FunctionLog()
        self.current = CurrentApplication()
        self.host = Host(
            database=self.database,
            runtime=self.runtime,  # type: ignore[arg-type]
            log=self.log,
            instance_name="local",
            urls=CanonicalUrls("http://127.0.0.1:1", "http://127.0.0.1:2"),
            current=self.current,
        )
        self.runner = FunctionRunner(self.host)
        self._functions: dict[FunctionPath, AnalyzedFunction] = {}
        self.deploy()

    def function(
        self,
        udf_type: UdfType,
        name: str,
        *,
        visibility: Visibility = "public",
        component: str = "",
        args: str = ANY,
        returns: str = "null",
    ) -> Callable[[Handler], Handler]:
        path = FunctionPath.parse(name, component)

        def register(handler: Handler) -> Handler:
            self.runtime.handlers[path] = handler
            self._functions[path] = AnalyzedFunction(path.function, udf_type, visibility, args, returns)
            self.deploy()
            return handler

        return register

    def query(self, name: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.function("Query", name, **options)

    def mutation(self, name: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.function("Mutation", name, **options)

    def action(self, name: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.function("Action", name, **options)

    def remove(self, name: str) -> None:
        del self._functions[FunctionPath.parse(name)]
        self.deploy()

    def deploy(self) -> None:
        """The app, and one definition mounted as `counter` and, inside it, as `counter/inner`."""
        version = self.current.application.version + 1 if self.current.application else 1
        transaction = self.database.begin()
        for row in transaction.system.scan("", "_udf_config"):
            transaction.system.delete("", "_udf_config", row.id)
        transaction.system.insert("", "_udf_config", {"version": version})
        self.database.commit(transaction)
        paths = {"": "", "counter": "counter", "counter/inner": "inner"}
        instances = {
            "": ComponentInstance("", "", "", {"counter": "counter"}),
            "counter": ComponentInstance(
                "c1", "counter", "counter", {"inner": "counter/inner"}, {"MODE": {"type": "envVar", "name": "SPEED"}}
            ),
            "counter/inner": ComponentInstance("c2", "counter/inner", "inner"),
        }
        definitions = {definition: self._definition(component, definition) for component, definition in paths.items()}
        self.current.replace(Application(version, UdfConfig("1.44.0", b"", 0), definitions, instances))

    def _definition(self, component: str, path: str) -> ComponentDefinition:
        functions = {p: f for p, f in self._functions.items() if p.component == component}
        modules = {p.module for p in functions}
        return ComponentDefinition(
            path,
            {module: Module(module, "", None, "isolate") for module in modules},
            {
                module: AnalyzedModule(tuple(f for p, f in functions.items() if p.module == module))
                for module in modules
            },
            None,
            {},
        )

    def call(self, name: str, args: object | None = None, **options: Any) -> Call:
        component = options.pop("component", "")
        return Call(FunctionPath.parse(name, component), {} if args is None else args, **options)

    def admin(self, name: str, args: object | None = None, **options: Any) -> Call:
        return self.call(name, args, identity=ADMIN, **options)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def thrown() -> type[Thrown]:
    return Thrown
