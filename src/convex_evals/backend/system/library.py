"""Every `_system/*` function of a deployment: found by its path, called with checked arguments."""

import re
from dataclasses import dataclass

from convex_evals.backend.deployed import ComponentInstance, FunctionPath
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.functions import SystemCall
from convex_evals.backend.system import documents, facts, jobs, modules, schemas, storage
from convex_evals.backend.system.declarations import Context, Declaration, Facts, Kind
from convex_evals.backend.validators import check
from convex_evals.backend.values import Value

AREAS = (documents, facts, jobs, modules, schemas, storage)

DECLARED: dict[FunctionPath, Declaration] = {
    path: declaration for area in AREAS for path, declaration in area.functions.by_path.items()
}


@dataclass(frozen=True, slots=True)
class DeclaredFunction:
    """A declaration in one deployment: what the function runner calls."""

    declaration: Declaration
    facts: Facts

    @property
    def kind(self) -> Kind:
        return self.declaration.kind

    async def run(self, call: SystemCall) -> Value:
        try:
            args = self._checked(call)
            context = Context(call, self.facts, _instance(call, args.pop("componentId", None)))
            return self.declaration.body(context, **{_snake(name): value for name, value in args.items()})
        except ConvexError as error:
            raise ConvexError(f"Uncaught ConvexError: {error.message}", error.data) from error
        except DeveloperError as error:
            raise DeveloperError(f"Uncaught Error: {error.message}") from error

    def _checked(self, call: SystemCall) -> dict[str, Value]:
        tables = call.transaction.catalog(_instance(call, None).id).table_names
        problem = check(self.declaration.args, call.args, tables)
        if problem is not None:
            raise DeveloperError(problem)
        return dict(call.args)


class SystemLibrary:
    """Finds system functions for the function runner (`functions/system_calls.py`)."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def find(self, path: FunctionPath) -> DeclaredFunction | None:
        declaration = DECLARED.get(FunctionPath(path.module, path.function))
        return None if declaration is None else DeclaredFunction(declaration, self._facts)


def _instance(call: SystemCall, component_id: Value) -> ComponentInstance:
    """The component named by the `componentId` argument, else the one the call is addressed to."""
    instances = call.application.instances if call.application else {}
    if isinstance(component_id, str) and component_id:
        found = next((instance for instance in instances.values() if instance.id == component_id), None)
        if found is None:
            raise DeveloperError(f"Component {component_id} not found")
        return found
    component = call.path.component
    if component == "":
        return instances.get("", ComponentInstance("", "", ""))
    if component not in instances:
        raise DeveloperError(f"Component path '{component}' not found")
    return instances[component]


def _snake(name: str) -> str:
    return re.sub("([A-Z])", lambda letter: f"_{letter[0].lower()}", name)
