"""How a system function is declared: a path, its arguments, and a Python function over a transaction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from convex_evals.backend.deployed import Application, ComponentInstance, FunctionPath
from convex_evals.backend.functions import SystemCall
from convex_evals.backend.validators import (
    NULL,
    NUMBER,
    STRING,
    Field,
    ObjectValidator,
    UnionValidator,
    Validator,
)
from convex_evals.backend.values import Value

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

Kind = Literal["query", "mutation"]
Body = Callable[..., Value]

PREFIX = "_system/"


def optional(validator: Validator) -> Field:
    return Field(validator, optional=True)


def nullable(validator: Validator) -> Validator:
    return UnionValidator((validator, NULL))


def object_of(**declared: Validator | Field) -> ObjectValidator:
    entries = {name: entry if isinstance(entry, Field) else Field(entry) for name, entry in declared.items()}
    return ObjectValidator({name: entries[name] for name in sorted(entries)})


COMPONENT_ID: Final = optional(nullable(STRING))

PAGINATION: Final = object_of(
    numItems=NUMBER,
    cursor=nullable(STRING),
    endCursor=optional(nullable(STRING)),
    id=optional(NUMBER),
    maximumRowsRead=optional(NUMBER),
    maximumBytesRead=optional(NUMBER),
)


class Files(Protocol):
    """What system functions need from file storage."""

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
        full_path = FunctionPath.parse(PREFIX + path)

        def register(body: Body) -> Body:
            self.by_path[full_path] = Declaration(full_path, kind, object_of(**declared), body)
            return body

        return register
