"""What the CLI sends to start_push and evaluate_push: components and their modules.

Also which paths modules may have, and how those that were sent are completed by those already deployed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from convex_evals.backend.deployed import Environment, Module, NodePackage
from convex_evals.backend.errors import RequestError

MAX_PATH_PART_BYTES = 64
MAX_DEFINITION_PATH_BYTES = 2048
PATH_PART_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")

MAX_MODULES = 4096
SCHEMA_PATH = "schema.js"
AUTH_CONFIG_PATH = "auth.config.js"
HTTP_PATH = "http.js"
CRONS_PATH = "crons.js"

NODE_VERSIONS = ("20", "22", "24")
PACKAGE_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-zA-Z0-9~-][a-zA-Z0-9._~-]*")
SHA256 = re.compile(r"[0-9a-fA-F]{64}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModuleHash:
    """A module the CLI did not send again, because it was told that the deployment has it."""

    path: str
    environment: Environment
    sha256: str


@dataclass(frozen=True, slots=True)
class PushedComponent:
    """One component definition: its `convex.config.js`, schema and functions. `path` is "" for the app."""

    path: str
    definition: Module | None
    dependencies: tuple[str, ...]
    schema: Module | None
    modules: tuple[Module, ...]
    unchanged: tuple[ModuleHash, ...]
    udf_server_version: str


def invalid_config(message: str) -> RequestError:
    return RequestError(400, "InvalidConfig", message)


def canonical_module_path(path: str) -> str:
    """`dir/messages` and `dir/messages.js` are both `dir/messages.js`; what cannot be a module path is refused."""
    reason = module_path_error(path)
    if reason is not None:
        raise invalid_config(f"{path} is not a valid path to a Convex module. {reason}")
    canonical = "/".join(_parts(path))
    return canonical if canonical.endswith(".js") else f"{canonical}.js"


def check_definition_path(path: str) -> str:
    """A definition's folder relative to the app's functions folder: `..` and npm names are fine."""
    problem = _definition_path_error(path)
    if problem is not None:
        raise invalid_config(f"{path} is not a valid path to a component definition. {problem}")
    return path


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def module_path_error(path: str) -> str | None:
    parts = _parts(path)
    if not parts or parts[-1] == "..":
        return f"Module path {path} doesn't have a filename."
    stem, dot, extension = parts[-1].rpartition(".")
    if dot and stem and extension != "js":
        return f"Module path ({path}) has an extension that isn't 'js'."
    if path.startswith("/"):
        return f"Module paths must be relative ({path} is absolute)."
    if ".." in parts:
        return f"Module path {path} must not contain '..'."
    if parts[0] == "_system":
        return "Modules under _system are reserved for the deployment itself."
    return next((error for part in parts if (error := _path_part_error(part)) is not None), None)


def _path_part_error(part: str) -> str | None:
    size = len(part.encode())
    if size > MAX_PATH_PART_BYTES:
        start = part.encode()[:MAX_PATH_PART_BYTES].decode(errors="ignore")
        return f"Path component is too long ({size} > maximum {MAX_PATH_PART_BYTES}): {start}..."
    if not PATH_PART_CHARACTERS.issuperset(part):
        return f"Path component {part} can only contain alphanumeric characters, underscores, or periods."
    if not any(character.isalnum() for character in part):
        return f"Path component {part} must have at least one alphanumeric character."
    return None


def _definition_path_error(path: str) -> str | None:
    if path.startswith("/"):
        return "Definition paths must be relative."
    if len(path.encode()) > MAX_DEFINITION_PATH_BYTES:
        return f"Definition paths may have up to {MAX_DEFINITION_PATH_BYTES} bytes."
    for part in path.split("/"):
        if not part or "\\" in part or not all(" " <= character <= "~" for character in part):
            return f"Path component {part!r} must be printable ASCII without slashes."
    return None


def resolve_modules(pushed: PushedComponent, stored: Mapping[str, Module]) -> dict[str, Module]:
    """By path, in path order. An unchanged hash that no longer matches makes the CLI start over (409)."""
    modules = {module.path: module for module in pushed.modules}
    modules |= {known.path: _stored_module(known, stored) for known in pushed.unchanged}
    analyzed = sum(not module.is_dependency for module in modules.values())
    if analyzed > MAX_MODULES or len(modules) > 2 * MAX_MODULES:
        raise RequestError(
            400, "InvalidModules", f'Too many function files ({analyzed} > maximum {MAX_MODULES}) in "convex/".'
        )
    return dict(sorted(modules.items(), key=lambda item: path_order(item[0])))


def path_order(path: str) -> list[str]:
    """Paths sort component by component: `a/b.js` before `a.js`."""
    return path.split("/")


def _stored_module(known: ModuleHash, stored: Mapping[str, Module]) -> Module:
    module = stored.get(known.path)
    if module is None:
        raise RequestError(409, "MissingExistingModule", f"Module {known.path} is no longer part of the deployment.")
    if module.environment != known.environment:
        raise RequestError(409, "ExistingModuleEnvConflict", f"Module {known.path} changed its environment.")
    if module.sha256 != known.sha256:
        raise RequestError(409, "ExistingModuleHashConflict", f"Module {known.path} changed since this push began.")
    return module


@dataclass(frozen=True, slots=True)
class PushRequest:
    app: PushedComponent
    components: tuple[PushedComponent, ...]
    dry_run: bool = False
    for_codegen: bool = False
    functions: str = "convex/"
    node_version: str | None = None
    node_packages: tuple[NodePackage, ...] = ()

    @classmethod
    def parse(cls, body: object) -> "PushRequest":
        fields = _Fields(body, "body")
        return cls(
            app=_parse_app(fields.nested("appDefinition")),
            components=tuple(_parse_component(item) for item in fields.items("componentDefinitions")),
            dry_run=fields.flag("dryRun"),
            for_codegen=fields.flag("forCodegen"),
            functions=fields.text("functions", "convex/"),
            node_version=_parse_node_version(fields.optional("nodeVersion", str)),
            node_packages=tuple(_parse_package(item) for item in fields.items("nodeDependencies")),
        )


def _parse_app(fields: "_Fields") -> PushedComponent:
    sent = "changedModules" if fields.has("changedModules") else "functions"
    return PushedComponent(
        path="",
        definition=fields.each("definition", _parse_module),
        dependencies=tuple(check_definition_path(path) for path in fields.texts("dependencies")),
        schema=fields.each("schema", _parse_module),
        modules=tuple(_parse_module(item) for item in fields.items(sent)),
        unchanged=tuple(_parse_hash(item) for item in fields.items("unchangedModuleHashes")),
        udf_server_version=fields.text("udfServerVersion"),
    )


def _parse_component(fields: "_Fields") -> PushedComponent:
    modules = tuple(_parse_module(item) for item in fields.items("functions"))
    for module in modules:
        if module.environment == "node":
            raise invalid_config(
                f'Node actions are not supported in components. Remove "use node" from {module.path} '
                f"in component {fields.text('definitionPath')}."
            )
    return PushedComponent(
        path=check_definition_path(fields.text("definitionPath")),
        definition=fields.each("definition", _parse_module),
        dependencies=tuple(check_definition_path(path) for path in fields.texts("dependencies")),
        schema=fields.each("schema", _parse_module),
        modules=modules,
        unchanged=(),
        udf_server_version=fields.text("udfServerVersion"),
    )


def _parse_module(fields: "_Fields") -> Module:
    return Module(
        path=canonical_module_path(fields.text("path")),
        source=fields.text("source"),
        source_map=fields.optional("sourceMap", str),
        environment=_parse_environment(fields.text("environment", "isolate")),
    )


def _parse_hash(fields: "_Fields") -> ModuleHash:
    sha256 = fields.text("sha256")
    if SHA256.fullmatch(sha256) is None:
        raise invalid_config(f"{sha256} is not a SHA-256 hash in hexadecimal digits.")
    environment = _parse_environment(fields.text("environment"))
    return ModuleHash(canonical_module_path(fields.text("path")), environment, sha256.lower())


def _parse_environment(text: str) -> Environment:
    if text not in ("isolate", "node"):
        raise invalid_config(f"{text} is not a valid module environment. It must be isolate or node.")
    return cast(Environment, text)


def _parse_node_version(text: str | None) -> str | None:
    if text == "18":
        raise invalid_config("Node.js 18 is no longer supported. Choose 20, 22 or 24 in convex.json.")
    if text is not None and text not in NODE_VERSIONS:
        raise invalid_config(f"{text} is not a supported version of Node.js. Choose 20, 22 or 24 in convex.json.")
    return text


def _parse_package(fields: "_Fields") -> NodePackage:
    name = fields.text("name")
    if PACKAGE_NAME.fullmatch(name) is None:
        raise invalid_config(f"{name} is not the name of an npm package.")
    return NodePackage(name, fields.text("version"))


class _Fields:
    """Reads typed fields from one JSON object and says where a wrong one stands."""

    def __init__(self, json: object, where: str) -> None:
        if not isinstance(json, Mapping):
            raise _bad_body(f"{where}: expected an object")
        self._json = cast(Mapping[str, object], json)
        self._where = where

    def has(self, name: str) -> bool:
        return self._json.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        value = self.optional(name, str)
        if value is not None:
            return value
        if default is None:
            raise _bad_body(f"{self._where}: missing field `{name}`")
        return default

    def flag(self, name: str) -> bool:
        return self.optional(name, bool) or False

    def optional(self, name: str, kind: type[T]) -> T | None:
        value = self._json.get(name)
        if value is not None and not isinstance(value, kind):
            raise _bad_body(f"{self._where}: invalid type for `{name}`")
        return value

    def nested(self, name: str) -> "_Fields":
        if not self.has(name):
            raise _bad_body(f"{self._where}: missing field `{name}`")
        return _Fields(self._json[name], name)

    def each(self, name: str, parse: Callable[["_Fields"], T]) -> T | None:
        return parse(self.nested(name)) if self.has(name) else None

    def items(self, name: str) -> list["_Fields"]:
        items = self.optional(name, list) or []
        return [_Fields(item, f"{name}[{index}]") for index, item in enumerate(items)]

    def texts(self, name: str) -> list[str]:
        items = self.optional(name, list) or []
        if not all(isinstance(item, str) for item in items):
            raise _bad_body(f"{self._where}: `{name}` must be a list of strings")
        return items


def _bad_body(message: str) -> RequestError:
    return RequestError(400, "BadJsonBody", message)
