"""Component definitions as their `convex.config.js` describes them, and the environment variables they declare."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from convex_evals.backend.errors import RequestError
from convex_evals.backend.names import identifier_error
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.request import PushedComponent

CHILD_REFERENCE = "_reference/childComponent/"
NO_EXPORTS: dict[str, object] = {"type": "branch", "branch": []}
Metadata = dict[str, object]


@dataclass(frozen=True, slots=True)
class EnvDeclaration:
    name: str
    optional: bool
    allowed: frozenset[str] | None  # None: every string

    def accepts(self, value: str) -> bool:
        return self.allowed is None or value in self.allowed

    def accepts_all_of(self, other: "EnvDeclaration") -> bool:
        if self.allowed is None:
            return True
        return other.allowed is not None and other.allowed <= self.allowed

    def mismatch(self, value: str) -> str:
        expected = " | ".join(orjson.dumps(text).decode() for text in sorted(self.allowed or ()))
        return f"{orjson.dumps(value).decode()} is not one of {expected}"


def parse_declarations(pairs: object, owner: str) -> dict[str, EnvDeclaration]:
    """`pairs` is `[["KEY", {"type": "value", "value": "<validator JSON>", "optional": true}]]`; `owner` names whose."""
    declared = cast("list[tuple[str, Mapping[str, object]]]", pairs or [])
    return {name: _parse_declaration(name, entry, owner) for name, entry in declared}


def check_variables(declared: Mapping[str, EnvDeclaration], variables: Mapping[str, str]) -> None:
    """What the app declares must be there when a push becomes active, and stay true afterwards."""
    missing = [name for name, entry in declared.items() if not entry.optional and name not in variables]
    if missing:
        raise missing_variables(missing)
    for name, entry in declared.items():
        if name in variables and not entry.accepts(variables[name]):
            raise refused(
                "InvalidEnvironmentVariable",
                f"Environment variable {name} has an invalid value: {entry.mismatch(variables[name])}",
            )


def missing_variables(names: list[str]) -> RequestError:
    return refused(
        "MissingEnvironmentVariables",
        f"Required environment variables are not set: {', '.join(sorted(names))}. "
        "Set them with `npx convex env set` or in the dashboard.",
    )


def _parse_declaration(name: str, entry: Mapping[str, object], owner: str) -> EnvDeclaration:
    validator = orjson.loads(cast(str, entry["value"]))
    try:
        allowed = _allowed(validator)
    except ValueError:
        raise refused(
            "InvalidEnvVarDeclaration",
            f"Env var `{name}` on {owner} has a non-string validator. Environment variables are strings: use "
            "`v.string()`, a string `v.literal()`, a `v.union()` of those, or `v.optional()` of one.",
        ) from None
    return EnvDeclaration(name, bool(entry.get("optional")), allowed)


def _allowed(validator: Mapping[str, object]) -> frozenset[str] | None:
    match validator:
        case {"type": "string"}:
            return None
        case {"type": "literal", "value": str(text)}:
            return frozenset({text})
        case {"type": "union", "value": list(members)}:
            choices = [_allowed(member) for member in members]
            return None if None in choices else frozenset[str]().union(*(choice for choice in choices if choice))
        case _:
            raise ValueError("not a string validator")


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
