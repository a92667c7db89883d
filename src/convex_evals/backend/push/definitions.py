"""Component definitions as their `convex.config.js` describes them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from convex_evals.backend.names import identifier_error
from convex_evals.backend.push.environment import EnvDeclaration, parse_declarations
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.request import PushedComponent

CHILD_REFERENCE = "_reference/childComponent/"
NO_EXPORTS: dict[str, object] = {"type": "branch", "branch": []}

Metadata = dict[str, object]


@dataclass(frozen=True, slots=True)
class EnvBinding:
    """What a parent gives a child for one variable: a literal, or the name of a variable of its own."""

    literal: str | None = None
    variable: str | None = None

    @classmethod
    def parse(cls, json: Mapping[str, object]) -> "EnvBinding":
        if json.get("type") == "envVar":
            return cls(variable=str(json["name"]))
        return cls(literal=str(json["value"]))

    def to_json(self) -> dict[str, str]:
        if self.variable is not None:
            return {"type": "envVar", "name": self.variable}
        return {"type": "value", "value": self.literal or ""}


@dataclass(frozen=True, slots=True)
class Child:
    name: str
    definition_path: str
    env: dict[str, EnvBinding]


@dataclass(frozen=True, slots=True)
class Definition:
    """The typed view of a definition's metadata that instantiation works with."""

    path: str
    children: tuple[Child, ...]
    http_mounts: dict[str, str]  # mount path -> child name
    http_prefix: str | None
    env: dict[str, EnvDeclaration]

    @classmethod
    def parse(cls, metadata: Metadata) -> "Definition":
        """Raises RequestError when names, paths or declarations break the rules."""
        try:
            return cls._parse(metadata)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # `export()` need not be the library's: nothing about its result is certain.
            raise refused(
                "InvalidDefinition", f"The definition of {metadata['path'] or 'the app'} is malformed"
            ) from error

    @classmethod
    def _parse(cls, metadata: Metadata) -> "Definition":
        path = str(metadata["path"])
        owner = f"component {path}" if path else "the app"
        mounts = cast("Mapping[str, str]", metadata["httpMounts"])
        return cls(
            path=path,
            children=tuple(_parse_child(child) for child in cast("list[Metadata]", metadata["childComponents"])),
            http_mounts={_mount_path(mount): child.removeprefix(CHILD_REFERENCE) for mount, child in mounts.items()},
            http_prefix=_mount_path(str(metadata["httpPrefix"])) if metadata.get("httpPrefix") else None,
            env=parse_declarations(metadata.get("envVars"), owner),
        )


def complete_metadata(path: str, exported: Mapping[str, object]) -> Metadata:
    """What `export()` returned, in the one shape that every CLI version reads."""
    kind = {"args": [], **_object(exported.get("definitionType"))} if path else {"type": "app"}
    children = exported.get("childComponents")
    return {
        "path": path,
        "definitionType": kind,
        "childComponents": [
            {"args": [], "env": None, **_object(child)} for child in (children if isinstance(children, list) else [])
        ],
        "httpMounts": _object(exported.get("httpMounts")),
        "httpPrefix": exported.get("httpPrefix"),
        "exports": NO_EXPORTS,
        "envVars": exported.get("envVars"),
    }


def _object(json: object) -> dict[str, object]:
    return json if isinstance(json, dict) else {}


def default_name(metadata: Metadata) -> str | None:
    name = cast("Mapping[str, object]", metadata["definitionType"]).get("name")
    return None if name is None else str(name)


def evaluation_order(app: PushedComponent, components: Iterable[PushedComponent]) -> list[PushedComponent]:
    """Dependencies before dependents, the app last. Raises RequestError on cycles and unknown dependencies."""
    by_path = {component.path: component for component in components}
    order: list[PushedComponent] = []
    done: set[str] = set()

    def visit(pushed: PushedComponent, above: tuple[str, ...]) -> None:
        if pushed.path in above:
            raise refused("CyclicImport", "Found cyclic definition dependency")
        if pushed.path in done:
            return
        for dependency in pushed.dependencies:
            if dependency not in by_path:
                raise refused("InvalidDefinition", f"Component definition {dependency} was not pushed")
            visit(by_path[dependency], (*above, pushed.path))
        done.add(pushed.path)
        order.append(pushed)

    for pushed in by_path.values():
        visit(pushed, ())
    visit(app, ())
    return order


def _parse_child(child: Metadata) -> Child:
    name = str(child["name"])
    reason = identifier_error(name)
    if reason is not None:
        raise refused("InvalidDefinition", f"Invalid component name: {reason}")
    env = cast("list[tuple[str, Mapping[str, object]]]", child.get("env") or [])
    return Child(name, str(child["path"]), {key: EnvBinding.parse(binding) for key, binding in env})


def _mount_path(text: str) -> str:
    if not text.startswith("/") or not text.endswith("/") or "*" in text or "?" in text:
        raise refused(
            "InvalidDefinition", f'HTTP prefix {text} must start and end with "/" and contain neither "*" nor "?"'
        )
    return text
