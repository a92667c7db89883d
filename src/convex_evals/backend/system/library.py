"""Every `_system/*` function of a deployment."""

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.system import (
    browsing,
    editing,
    environment_variables,
    facts,
    modules,
    scheduling,
    schemas,
    storage,
)
from convex_evals.backend.system.declarations import Declaration, DeclaredFunction, Facts

AREAS = (browsing, editing, environment_variables, facts, modules, scheduling, schemas, storage)

DECLARED: dict[FunctionPath, Declaration] = {
    path: declaration for area in AREAS for path, declaration in area.functions.by_path.items()
}


class SystemLibrary:
    """Finds system functions for the function runner (`functions/system.py`)."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def find(self, path: FunctionPath) -> DeclaredFunction | None:
        declaration = DECLARED.get(FunctionPath(path.module, path.function))
        return None if declaration is None else DeclaredFunction(declaration, self._facts)
