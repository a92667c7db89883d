"""Pages, as system functions return them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from convex_evals.backend.database import PageRequest
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.system.declarations import Context
from convex_evals.backend.values import Value

MAX_ROWS = 10_000.0
MAX_BYTES = 5_000_000.0
END = "end"

Row = TypeVar("Row")
Position = tuple[int, str]


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
