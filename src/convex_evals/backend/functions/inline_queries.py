"""Queries that are not deployed: `convex run --inline-query` sends the code along."""

import itertools
import posixpath
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from os import urandom
from pathlib import Path
from typing import Final, Protocol

from convex_evals.backend.deployed import (
    AnalyzedModule,
    Application,
    ComponentDefinition,
    ComponentInstance,
    FunctionPath,
    Module,
    UdfConfig,
)
from convex_evals.backend.errors import RequestError, WorkerLost
from convex_evals.backend.functions.calls import Call, CallOutcome, Finished
from convex_evals.backend.functions.execution import run_attempt
from convex_evals.backend.functions.host import Attempt, Host
from convex_evals.backend.functions.records import record_attempt

ENTRY: Final = "server/index.js"
FOLDER: Final = "_system/convex"
WRAPPERS: Final = Module(
    "_system/repl/wrappers.js",
    f'export {{ queryGeneric as query, internalQueryGeneric as internalQuery }} from "/{FOLDER}/{ENTRY}";',
    None,
    "isolate",
)
IMPORT: Final = re.compile(r"""\bfrom\s+["'](\.{1,2}/[^"']+)["']|^import\s+["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


class Sdk:
    def __init__(self, package: Path) -> None:
        self._root = package / "dist" / "esm"

    @cached_property
    def modules(self) -> dict[str, Module]:
        """`_system/repl/wrappers.js` and everything it imports, by path."""
        sources: dict[str, str] = {}
        missing = [ENTRY]
        while missing:
            path = missing.pop()
            if path not in sources:
                sources[path] = (self._root / path).read_text()
                missing.extend(_imports(path, sources[path]))
        found = [Module(f"{FOLDER}/{path}", source, None, "isolate") for path, source in sources.items()]
        return {module.path: module for module in [WRAPPERS, *found]}


def _imports(path: str, source: str) -> list[str]:
    folder = posixpath.dirname(path)
    return [posixpath.normpath(posixpath.join(folder, a or b)) for a, b in IMPORT.findall(source)]


class ModuleAnalyzer(Protocol):
    async def analyze_alone(
        self, module: Module, modules: Mapping[str, Module], udf_config: UdfConfig, env: Mapping[str, str]
    ) -> AnalyzedModule:
        """`modules` are those it may import. Raises RequestError."""
        ...


class InlineQueries:
    """Runs the default export of a module as if it had been deployed: it can read, and call other queries."""

    def __init__(self, host: Host, analyzer: ModuleAnalyzer, sdk: Sdk | None) -> None:
        self._host = host
        self._analyzer = analyzer
        self._sdk = sdk
        self._versions = itertools.count(-1, -1)  # no pushed application has such a number

    async def run(self, call: Call, module: Module, component_id: str = "") -> CallOutcome:
        """`call.path` is that of the module. Raises RequestError when it cannot be run as a query."""
        deployed = self._host.application or _empty_application()
        instance = _find_instance(deployed, component_id)
        attempt = Attempt.begin(self._host, call, "Query")
        application = await self._with_module(deployed, instance, module, attempt.state.variables_of(instance))
        path = FunctionPath(module.path, "default", instance.path)
        attempt = replace(attempt, application=application, call=replace(call, path=path, allow_internal=True))
        with self._host.runtime.loaded(application):
            finished = await _run(attempt)
        record_attempt(attempt, finished)
        value = finished.returned.text if finished.returned else None
        return CallOutcome(value, finished.failure, call.request_id, finished.log_lines)

    async def _with_module(
        self, application: Application, instance: ComponentInstance, module: Module, env: Mapping[str, str]
    ) -> Application:
        definition = application.definitions[instance.definition_path]
        modules = {**definition.modules, **self._importable(), module.path: module}
        analyzed = await self._analyzer.analyze_alone(module, modules, application.udf_config, env)
        _require_query(module.path, analyzed)
        extended = replace(definition, modules=modules, analysis={**definition.analysis, module.path: analyzed})
        definitions = {**application.definitions, definition.path: extended}
        return replace(application, version=next(self._versions), definitions=definitions)

    def _importable(self) -> Mapping[str, Module]:
        if self._sdk is None:
            raise RequestError(
                400,
                "InlineQueriesUnavailable",
                "Inline queries need the JavaScript toolchain: run `convex-evals doctor`.",
            )
        return self._sdk.modules


async def _run(attempt: Attempt) -> Finished:
    try:
        return await run_attempt(attempt)
    except WorkerLost:
        return await run_attempt(attempt, suspect=True)


def _find_instance(application: Application, component_id: str) -> ComponentInstance:
    for instance in application.instances.values():
        if instance.id == component_id and instance.state == "active":
            return instance
    raise RequestError(400, "InvalidComponentId", f"There is no component with the ID {component_id!r}.")


def _require_query(path: str, analyzed: AnalyzedModule) -> None:
    function = analyzed.function("default")
    if function is None or function.udf_type != "Query":
        found = "nothing of the kind" if function is None else f"a {function.udf_type.lower()}"
        raise RequestError(400, "InvalidTestQuery", f"The default export of {path} must be a query; it is {found}.")


def _empty_application() -> Application:
    """What a deployment is before the first push."""
    config = UdfConfig("", urandom(32), int(time.time() * 1000))
    return Application(0, config, {"": ComponentDefinition("", {}, {}, None, {})}, {"": ComponentInstance("", "", "")})
