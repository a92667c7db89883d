"""How a system function is declared: a path, its arguments, and a Python function over a transaction."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from convex_evals.backend.deployed import Application, ComponentInstance, FunctionPath
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.functions.system import SystemCall
from convex_evals.backend.system.arguments import COMPONENT_ID
from convex_evals.backend.validators import Field, ObjectValidator, Validator, check
from convex_evals.backend.values import Value

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

Kind = Literal["query", "mutation"]
Body = Callable[..., Value]

PREFIX = "_system/"


class Files(Protocol):
    """The stored files, as far as system functions touch them."""

    def get_url(self, transaction: "Transaction", instance: ComponentInstance, storage_id: str) -> str | None: ...

    def delete(self, transaction: "Transaction", instance: ComponentInstance, storage_id: str) -> None: ...

    def upload_url(self, instance: ComponentInstance) -> str: ...


class Facts(Protocol):
    """What system functions tell about their deployment."""

    @property
    def cloud_url(self) -> str: ...

    @property
    def site_url(self) -> str: ...

    @property
    def files(self) -> Files: ...


@dataclass(frozen=True, slots=True)
class Context:
    """One call of a system function, in the component that it is about."""

    call: SystemCall
    facts: Facts
    instance: ComponentInstance

    @property
    def transaction(self) -> "Transaction":
        return self.call.transaction

    @property
    def application(self) -> Application | None:
        return self.call.application

    @property
    def namespace(self) -> str:
        return self.instance.id


@dataclass(frozen=True, slots=True)
class Declaration:
    path: FunctionPath
    kind: Kind
    args: ObjectValidator
    body: Body


@dataclass(slots=True)
class Declarations:
    """The functions of one area. Argument names are the callers' (`tableName`); bodies get them as `table_name`."""

    by_path: dict[FunctionPath, Declaration] = field(default_factory=dict)

    def query(self, path: str, *, in_component: bool = True, **args: Validator | Field) -> Callable[[Body], Body]:
        return self._declare("query", path, in_component, args)

    def mutation(self, path: str, **args: Validator | Field) -> Callable[[Body], Body]:
        return self._declare("mutation", path, True, args)

    def _declare(
        self, kind: Kind, path: str, in_component: bool, args: dict[str, Validator | Field]
    ) -> Callable[[Body], Body]:
        declared = {"componentId": COMPONENT_ID, **args} if in_component else args
        fields = {name: _field(declared[name]) for name in sorted(declared)}
        full_path = FunctionPath.parse(PREFIX + path)

        def register(body: Body) -> Body:
            self.by_path[full_path] = Declaration(full_path, kind, ObjectValidator(fields), body)
            return body

        return register


def _field(validator: Validator | Field) -> Field:
    return validator if isinstance(validator, Field) else Field(validator)


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
