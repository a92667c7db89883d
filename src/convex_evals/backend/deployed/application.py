"""The deployed application: definitions (code) and the tree of mounted instances (data and bindings)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from convex_evals.backend.deployed.functions import AnalyzedFunction, AnalyzedModule, FunctionPath, Module

ROOT: Final = ""
"""The namespace of the app itself; mounted components have their instance ids."""


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
