"""Function handles: strings that name a function of a mounted component for ever.

The id in a handle is computed from the component instance and the function's path, so that every function has a handle
from the moment it is deployed, redeploying does not change it, and a function that comes back has its old one.
"""

import hashlib

from convex_evals.backend.deployed import Application, FunctionPath
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId

SCHEME = "function://"
HANDLES_TABLE = SYSTEM_TABLE_NUMBERS["_function_handles"]


def handle_of(component_id: str, path: FunctionPath) -> str:
    return f"{SCHEME}{_id_of(component_id, path)}#{path.stripped}"


def _id_of(component_id: str, path: FunctionPath) -> str:
    digest = hashlib.sha256(f"{component_id}\0{path.canonical}".encode()).digest()
    return str(DocumentId(HANDLES_TABLE, digest[:16]))


class Handles:
    """Finds the functions behind handles; remembers the newest application's."""

    def __init__(self) -> None:
        self._application: Application | None = None
        self._paths: dict[str, FunctionPath] = {}

    def resolve(self, application: Application, handle: str) -> FunctionPath:
        if self._application is not application:
            self._application, self._paths = application, _index(application)
        path = self._paths.get(handle.removeprefix(SCHEME).partition("#")[0])
        if path is None or not handle.startswith(SCHEME):
            raise DeveloperError("Function handle not found")
        return path


def _index(application: Application) -> dict[str, FunctionPath]:
    paths: dict[str, FunctionPath] = {}
    for component, instance in application.instances.items():
        definition = application.definition_of(component)
        for module, analysis in definition.analysis.items() if definition else ():
            for function in analysis.functions:
                path = FunctionPath(module, function.name, component)
                paths[_id_of(instance.id, path)] = path
    return paths
