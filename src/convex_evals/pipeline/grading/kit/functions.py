"""The functions of a deployment as they were declared."""

from dataclasses import dataclass
from typing import Any

from convex_evals.pipeline.grading.kit.validators import Field, fields_of, shown


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """`name` is like `messages:list`; `args` and `returns` are validators as Convex writes them in JSON."""

    name: str
    kind: str  # "query", "mutation", "action"
    is_public: bool
    args: Any
    returns: Any

    def __str__(self) -> str:
        return f"a public {self.kind}" if self.is_public else f"an internal {self.kind}"

    @property
    def visibility(self) -> str:
        return "public" if self.is_public else "internal"

    @property
    def arguments(self) -> dict[str, Field]:
        return fields_of(self.args, f"the arguments of {self.name}")

    @property
    def has_args(self) -> bool:
        """Whether the arguments are validated at all."""
        return bool(self.args["type"] != "any")

    @property
    def returns_type(self) -> str | None:
        """The validator in the words of TypeScript; None without one."""
        return None if self.returns is None else shown(self.returns)


@dataclass(frozen=True, slots=True, order=True)
class Route:
    """An HTTP endpoint; the path of a prefix ends in `/*`."""

    method: str
    path: str


def parse_functions(spec: list[dict[str, Any]]) -> dict[str, FunctionSpec]:
    functions = [_function(entry) for entry in spec if entry["functionType"] != "HttpAction"]
    return {function.name: function for function in functions}


def parse_routes(spec: list[dict[str, Any]]) -> list[Route]:
    routes = [entry for entry in spec if entry["functionType"] == "HttpAction"]
    return sorted(Route(entry["method"], entry["path"]) for entry in routes)


def _function(entry: dict[str, Any]) -> FunctionSpec:
    module, _, name = entry["identifier"].rpartition(":")
    return FunctionSpec(
        name=f"{module.removesuffix('.js')}:{name}",
        kind=entry["functionType"].lower(),
        is_public=entry["visibility"]["kind"] == "public",
        args=entry["args"],
        returns=entry["returns"],
    )
