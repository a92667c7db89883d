"""How a system function is declared (a path, its arguments, and a Python function over a transaction), and the pages it
returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeVar

from convex_evals.backend.database import PageRequest
from convex_evals.backend.deployed import Application, ComponentInstance, FunctionPath
from convex_evals.backend.errors import DeveloperError
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

MAX_ROWS = 10_000.0
MAX_BYTES = 5_000_000.0
END = "end"

Row = TypeVar("Row")
Position = tuple[int, str]


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


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The argument `paginationOpts`."""

    size: float
    cursor: str | None = None
    end_cursor: str | None = None
    max_rows: float = MAX_ROWS
    max_bytes: float = MAX_BYTES

    @classmethod
    def parse(cls, options: dict[str, Value]) -> "PageOptions":
        return cls(
            _number(options["numItems"]) or 0.0,
            _text(options["cursor"]),
            _text(options.get("endCursor")),
            min(_number(options.get("maximumRowsRead")) or MAX_ROWS, MAX_ROWS),
            min(_number(options.get("maximumBytesRead")) or MAX_BYTES, MAX_BYTES),
        )


def _number(value: Value) -> float | None:
    return value if isinstance(value, float) else None


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def page(items: Sequence[Value], *, is_done: bool, continue_cursor: str) -> Value:
    return {
        "page": list(items),
        "isDone": is_done,
        "continueCursor": continue_cursor,
        "splitCursor": None,
        "pageStatus": None,
    }


def last_page(items: Sequence[Value] = ()) -> Value:
    return page(items, is_done=True, continue_cursor="")


def paginate(
    context: Context, query: object, options: PageOptions, show: Callable[[dict[str, Value]], Value | None]
) -> Value:
    """One page of a query. Documents that `show` answers None for are left out of it."""
    request = PageRequest(
        query,
        options.cursor,
        options.size,
        options.end_cursor,
        options.max_rows,
        options.max_bytes,
        context.call.journal,
        in_component=True,
    )
    found = context.transaction.paginate(context.namespace, request)
    context.call.journal = found.journal
    shown = [item for document in found.documents if (item := show(dict(document.value))) is not None]
    return page(shown, is_done=found.is_done, continue_cursor=found.continue_cursor)


def paginate_rows(
    context: Context, rows: Sequence[Row], position_of: Callable[[Row], Position], options: PageOptions
) -> tuple[list[Row], str]:
    """The rows of one page, and the cursor to continue from. `rows` are in the order of their positions."""
    if options.cursor == END:
        return [], END
    start = None if options.cursor is None else _read_position(options.cursor)
    rest = [row for row in rows if start is None or position_of(row) > start]
    taken, reached = _cut(rest, position_of, options.end_cursor or context.call.journal, max(int(options.size), 1))
    context.call.journal = reached
    return taken, reached


def _cut(rows: list[Row], position_of: Callable[[Row], Position], end: str | None, size: int) -> tuple[list[Row], str]:
    if end is not None and end != END:
        last = _read_position(end)
        return [row for row in rows if position_of(row) <= last], end
    if end == END or len(rows) <= size:
        return rows, END
    return rows[:size], _write_position(position_of(rows[size - 1]))


def _write_position(position: Position) -> str:
    return f"{position[0]}:{position[1]}"


def _read_position(cursor: str) -> Position:
    number, _, document_id = cursor.partition(":")
    try:
        return int(number), document_id
    except ValueError as error:
        raise DeveloperError("Failed to parse cursor") from error
