"""Functions as analysis found them, and the ways their paths are written."""

from dataclasses import dataclass
from typing import Literal

UdfType = Literal["Query", "Mutation", "Action", "HttpAction"]
Visibility = Literal["public", "internal"]


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


@dataclass(frozen=True, slots=True)
class AnalyzedFunction:
    name: str
    udf_type: UdfType
    visibility: Visibility | None
    args: str  # validator JSON text, normalized; '{"type":"any"}' when unvalidated
    returns: str  # validator JSON text, normalized; 'null' when unvalidated
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class HttpRoute:
    path: str  # "/hi", or "/prefix/*" for a prefix route
    method: str
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class CronSpec:
    identifier: str
    udf_path: str  # "messages.js:clean"
    udf_args: str  # JSON text of the argument array
    schedule: dict[str, object]  # {"type": "interval", "seconds": 60} …


@dataclass(frozen=True, slots=True)
class AnalyzedModule:
    functions: tuple[AnalyzedFunction, ...] = ()
    http_routes: tuple[HttpRoute, ...] | None = None
    cron_specs: tuple[CronSpec, ...] | None = None

    def function(self, name: str) -> AnalyzedFunction | None:
        return next((function for function in self.functions if function.name == name), None)
