"""The modules of a push: which paths they may have, and the complete set of those sent and those already deployed."""

from collections.abc import Mapping
from dataclasses import dataclass

from convex_evals.backend.deployed import Environment, Module
from convex_evals.backend.errors import RequestError

MAX_COMPONENT_BYTES = 64
MAX_DEFINITION_PATH_BYTES = 2048
COMPONENT_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")

MAX_MODULES = 4096
SCHEMA_PATH = "schema.js"
AUTH_CONFIG_PATH = "auth.config.js"
HTTP_PATH = "http.js"
CRONS_PATH = "crons.js"


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
    return next((error for part in parts if (error := _component_error(part)) is not None), None)


def _component_error(part: str) -> str | None:
    size = len(part.encode())
    if size > MAX_COMPONENT_BYTES:
        start = part.encode()[:MAX_COMPONENT_BYTES].decode(errors="ignore")
        return f"Path component is too long ({size} > maximum {MAX_COMPONENT_BYTES}): {start}..."
    if not COMPONENT_CHARACTERS.issuperset(part):
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
