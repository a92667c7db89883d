"""The complete set of modules of a push: what was sent, and what the deployment already has."""

from collections.abc import Mapping

from convex_evals.backend.deployed import Module
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.request import ModuleHash, PushedComponent

MAX_MODULES = 4096
SCHEMA_PATH = "schema.js"
AUTH_CONFIG_PATH = "auth.config.js"
DEFINITION_PATH = "convex.config.js"


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
