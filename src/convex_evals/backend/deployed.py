"""What a push leaves behind: modules, their functions, component definitions and the tree of mounted components."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, cast

Environment = Literal["isolate", "node"]

UdfType = Literal["Query", "Mutation", "Action", "HttpAction"]
Visibility = Literal["public", "internal"]
Json = dict[str, object]

ROOT: Final = ""
"""The namespace of the app itself; mounted components have their instance ids."""


@dataclass(frozen=True)
class Module:
    path: str  # canonical: "dir/messages.js"
    source: str
    source_map: str | None
    environment: Environment

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256((self.source + (self.source_map or "")).encode()).hexdigest()

    @property
    def is_dependency(self) -> bool:
        """A chunk shared by other modules: never analyzed, never callable."""
        return self.path.startswith(("_deps/", "actions/_deps/"))


@dataclass(frozen=True, slots=True)
class FunctionPath:
    """`messages.js:list` in the component at `component` ("" is the app, "outer/inner" a nested one)."""

    module: str  # canonical, with .js
    function: str
    component: str = ""

    @classmethod
    def parse(cls, text: str, component: str = "") -> "FunctionPath":
        module, _, function = text.rpartition(":") if ":" in text else (text, "", "default")
        if not module.endswith(".js"):
            module += ".js"
        return cls(module, function or "default", component)

    @property
    def canonical(self) -> str:
        return f"{self.module}:{self.function}"

    @property
    def stripped(self) -> str:
        """Without `.js` and without `:default`."""
        module = self.module.removesuffix(".js")
        return module if self.function == "default" else f"{module}:{self.function}"

    @property
    def in_component(self) -> str:
        return f" in '{self.component}'" if self.component else ""


@dataclass(frozen=True, slots=True)
class Position:
    path: str
    start_lineno: int
    start_col: int

    @classmethod
    def from_json(cls, json: object) -> "Position | None":
        if json is None:
            return None
        fields = cast(Json, json)
        return cls(str(fields["path"]), cast(int, fields["start_lineno"]), cast(int, fields["start_col"]))

    def to_json(self) -> Json:
        return {"path": self.path, "start_lineno": self.start_lineno, "start_col": self.start_col}


@dataclass(frozen=True, slots=True)
class AnalyzedFunction:
    name: str
    udf_type: UdfType
    visibility: Visibility | None
    args: str  # validator JSON text, normalized; '{"type":"any"}' when unvalidated
    returns: str  # validator JSON text, normalized; 'null' when unvalidated
    position: Position | None = None

    @classmethod
    def from_json(cls, json: Json) -> "AnalyzedFunction":
        visibility = cast("dict[str, Visibility] | None", json["visibility"])
        return cls(
            name=str(json["name"]),
            udf_type=cast(UdfType, json["udfType"]),
            visibility=None if visibility is None else visibility["kind"],
            args=str(json["args"]),
            returns=str(json["returns"]),
            position=Position.from_json(json["pos"]),
        )

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "pos": None if self.position is None else self.position.to_json(),
            "udfType": self.udf_type,
            "visibility": None if self.visibility is None else {"kind": self.visibility},
            "args": self.args,
            "returns": self.returns,
        }


@dataclass(frozen=True, slots=True)
class HttpRoute:
    path: str  # "/hi", or "/prefix/*" for a prefix route
    method: str
    position: Position | None = None

    @classmethod
    def from_json(cls, json: Json) -> "HttpRoute":
        route = cast("dict[str, str]", json["route"])
        return cls(route["path"], route["method"], Position.from_json(json["pos"]))

    def to_json(self) -> Json:
        position = None if self.position is None else self.position.to_json()
        return {"route": {"path": self.path, "method": self.method}, "pos": position}


@dataclass(frozen=True, slots=True)
class CronSpec:
    identifier: str
    udf_path: str  # "messages.js:clean"
    udf_args: str  # JSON text of the argument array
    schedule: dict[str, object]  # {"type": "interval", "seconds": 60} …

    @classmethod
    def from_json(cls, json: Json) -> "CronSpec":
        spec = cast(Json, json["spec"])
        arguments = bytes(cast("list[int]", spec["udfArgs"])).decode()
        return cls(str(json["identifier"]), str(spec["udfPath"]), arguments, cast(Json, spec["cronSchedule"]))

    def to_json(self) -> Json:
        arguments = list(self.udf_args.encode())
        spec = {"udfPath": self.udf_path, "udfArgs": arguments, "cronSchedule": self.schedule}
        return {"identifier": self.identifier, "spec": spec}


@dataclass(frozen=True, slots=True)
class AnalyzedModule:
    """Its JSON is what the CLI is shown, and what is stored."""

    functions: tuple[AnalyzedFunction, ...] = ()
    http_routes: tuple[HttpRoute, ...] | None = None
    cron_specs: tuple[CronSpec, ...] | None = None

    @classmethod
    def from_json(cls, json: Mapping[str, object]) -> "AnalyzedModule":
        routes, crons = cast("list[Json] | None", json["httpRoutes"]), cast("list[Json] | None", json["cronSpecs"])
        return cls(
            functions=tuple(AnalyzedFunction.from_json(function) for function in cast("list[Json]", json["functions"])),
            http_routes=None if routes is None else tuple(HttpRoute.from_json(route) for route in routes),
            cron_specs=None if crons is None else tuple(CronSpec.from_json(spec) for spec in crons),
        )

    def to_json(self) -> Json:
        return {
            "functions": [function.to_json() for function in self.functions],
            "httpRoutes": None if self.http_routes is None else [route.to_json() for route in self.http_routes],
            "cronSpecs": None if self.cron_specs is None else [spec.to_json() for spec in self.cron_specs],
            "sourceMapped": None,
        }

    def function(self, name: str) -> AnalyzedFunction | None:
        return next((function for function in self.functions if function.name == name), None)


@dataclass(frozen=True, slots=True)
class UdfConfig:
    server_version: str
    import_phase_seed: bytes
    import_phase_ms: int


@dataclass(frozen=True, slots=True)
class NodePackage:
    """A package that `"use node"` modules import instead of carrying it: named in `node.externalPackages`."""

    name: str
    version: str


@dataclass(frozen=True)
class ComponentDefinition:
    """Code shared by every instance mounted from it. `path` is "" for the app."""

    path: str
    modules: dict[str, Module]
    analysis: dict[str, AnalyzedModule]
    schema: str | None  # normalized schema JSON text
    metadata: dict[str, object]  # what `convex.config.js` exported, plus "path"


@dataclass(frozen=True)
class ComponentInstance:
    id: str  # "" for the app; the namespace of its tables
    path: str  # "", "counter", "outer/inner"
    definition_path: str
    children: dict[str, str] = field(default_factory=dict)  # child name -> component path
    env: dict[str, dict[str, str]] = field(default_factory=dict)  # {"MODE": {"type": "value", "value": "fast"}}
    http_prefix: str | None = None
    state: Literal["active", "unmounted"] = "active"


@dataclass(frozen=True)
class Application:
    """Everything that became active with one finish_push. Immutable: a push replaces the whole."""

    version: int  # grows with every push; workers load code by it
    udf_config: UdfConfig
    definitions: dict[str, ComponentDefinition]
    instances: dict[str, ComponentInstance]  # by component path, unmounted ones included
    auth_providers: tuple[dict[str, object], ...] = ()
    node_version: str | None = None
    node_packages: tuple[NodePackage, ...] = ()

    def instance(self, component: str) -> ComponentInstance | None:
        return self.instances.get(component)

    def definition_of(self, component: str) -> ComponentDefinition | None:
        instance = self.instances.get(component)
        if instance is None or instance.state != "active":
            return None
        return self.definitions.get(instance.definition_path)

    def function(self, path: FunctionPath) -> AnalyzedFunction | None:
        definition = self.definition_of(path.component)
        module = definition.analysis.get(path.module) if definition else None
        return module.function(path.function) if module else None

    def module(self, path: FunctionPath) -> Module | None:
        definition = self.definition_of(path.component)
        return definition.modules.get(path.module) if definition else None


Listener = Callable[[Application], None]


class CurrentApplication:
    """One per deployment. A push replaces the application at its commit point; calls under way keep theirs."""

    def __init__(self, application: Application | None = None) -> None:
        self.application = application
        self._listeners: list[Listener] = []

    def on_change(self, listener: Listener) -> None:
        """`listener` is called with every application that becomes current from now on."""
        self._listeners.append(listener)

    def replace(self, application: Application) -> None:
        self.application = application
        for listener in self._listeners:
            listener(application)
