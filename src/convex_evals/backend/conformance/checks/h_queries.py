"""Queries and indexes."""

from typing import Any

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

TABLE = "querying_rows"


async def _fill(t: Target, *rows: dict[str, Any]) -> list[str]:
    identifiers: list[str] = await t.mutation("querying:fill", {"rows": list(rows)})
    return identifiers


async def _range(t: Target, index: str, *bounds: tuple[str, str, Any], order: str | None = None) -> Any:
    args: dict[str, Any] = {
        "index": index,
        "range": [{"op": op, "field": field, "value": value} for op, field, value in bounds],
    }
    return await t.query("querying:run", args | ({"order": order} if order else {}))


async def _range_failure(t: Target, index: str, *bounds: tuple[str, str, Any]) -> str:
    return (await expect.failure(_range(t, index, *bounds))).plain


@check(135, "collect() returns documents by creation time; desc reverses", p1=True)
async def creation_order(t: Target) -> None:
    await _fill(t, {"tag": "a"}, {"tag": "b"}, {"tag": "c"})
    expect.equal(await t.query("querying:run"), ["a", "b", "c"])
    expect.equal(await t.query("querying:run", {"order": "desc"}), ["c", "b", "a"])


@check(136, "A table that does not exist is empty", p1=True)
async def missing_table(t: Target) -> None:
    expect.equal(await t.query("querying:run", {"table": "querying_missing"}), [])


@check(137, "An index equality returns only matches, by the remaining key and then creation time", p1=True)
async def index_equality(t: Target) -> None:
    await _fill(
        t,
        {"x": 1.0, "y": 2.0, "tag": "b"},
        {"x": 2.0, "y": 0.0, "tag": "no"},
        {"x": 1.0, "y": 1.0, "tag": "a"},
        {"x": 1.0, "y": 2.0, "tag": "c"},
    )
    expect.equal(await _range(t, "by_x_y", ("eq", "x", 1.0)), ["a", "b", "c"])
    expect.equal(await _range(t, "by_x", ("eq", "x", 1.0)), ["b", "a", "c"])


@check(138, "An equality on the first field and a range on the second", p1=True)
async def equality_and_range(t: Target) -> None:
    await _fill(t, *({"x": 1.0, "y": float(y), "tag": str(y)} for y in range(5)), {"x": 2.0, "y": 2.0, "tag": "no"})
    found = await _range(t, "by_x_y", ("eq", "x", 1.0), ("gt", "y", 0.0), ("lte", "y", 3.0))
    expect.equal(found, ["1", "2", "3"])


@check(139, "An index without a range sorts all documents, those without the field first")
async def whole_index(t: Target) -> None:
    await _fill(t, {"x": 2.0, "tag": "two"}, {"tag": "none"}, {"x": 1.0, "tag": "one"})
    expect.equal(await _range(t, "by_x"), ["none", "one", "two"])


@check(140, "eq undefined finds documents without the field; eq null only null")
async def undefined_and_null(t: Target) -> None:
    await _fill(t, {"tag": "missing"}, {"x": None, "tag": "null"})
    expect.equal(await t.query("querying:equalUndefined"), ["missing"])
    expect.equal(await _range(t, "by_x", ("eq", "x", None)), ["null"])


@check(141, "gt null excludes missing and null and includes every other type")
async def greater_than_null(t: Target) -> None:
    await _fill(t, {"tag": "missing"}, {"x": None, "tag": "null"}, {"x": 1, "tag": "int"}, {"x": [], "tag": "array"})
    expect.equal(await _range(t, "by_x", ("gt", "x", None)), ["int", "array"])


@check(142, "lt 5 includes missing, null and every bigint")
async def less_than_number(t: Target) -> None:
    await _fill(
        t,
        {"tag": "missing"},
        {"x": None, "tag": "null"},
        {"x": 900, "tag": "int"},
        {"x": 4.0, "tag": "four"},
        {"x": 5.0, "tag": "five"},
    )
    expect.equal(await _range(t, "by_x", ("lt", "x", 5.0)), ["missing", "null", "int", "four"])


@check(143, "Types sort: undefined, null, bigint, float, boolean, string, bytes, array, object")
async def type_order(t: Target) -> None:
    rows: list[dict[str, Any]] = [
        {"x": {"a": 1.0}, "tag": "object"},
        {"x": [1.0], "tag": "array"},
        {"x": b"\x00", "tag": "bytes"},
        {"x": "", "tag": "string"},
        {"x": False, "tag": "boolean"},
        {"x": -1e300, "tag": "float"},
        {"x": 5, "tag": "bigint"},
        {"x": None, "tag": "null"},
        {"tag": "undefined"},
    ]
    await _fill(t, *rows)
    expect.equal(await _range(t, "by_x"), [row["tag"] for row in reversed(rows)])


@check(144, "1n sorts before 0.5, -0 before 0, NaN after Infinity")
async def number_order(t: Target) -> None:
    await _fill(
        t,
        {"x": float("nan"), "tag": "NaN"},
        {"x": float("inf"), "tag": "Infinity"},
        {"x": 0.5, "tag": "0.5"},
        {"x": 0.0, "tag": "0"},
        {"x": -0.0, "tag": "-0"},
        {"x": 1, "tag": "1n"},
    )
    expect.equal(await _range(t, "by_x"), ["1n", "-0", "0", "0.5", "Infinity", "NaN"])


@check(145, "Strings sort by code point")
async def string_order(t: Target) -> None:
    await _fill(t, {"x": "\U0001f600", "tag": "emoji"}, {"x": "\ufffd", "tag": "replacement"})
    expect.equal(await _range(t, "by_x"), ["replacement", "emoji"])


@check(146, "An index on a nested path works; where there is no object the field counts as undefined")
async def nested_index(t: Target) -> None:
    await _fill(t, {"a": {"b": 2.0}, "tag": "two"}, {"a": 7.0, "tag": "scalar"}, {"a": {"b": 1.0}, "tag": "one"})
    expect.equal(await _range(t, "by_nested"), ["scalar", "one", "two"])
    expect.equal(await _range(t, "by_nested", ("gte", "a.b", 1.0)), ["one", "two"])


@check(147, "A range on _creationTime after all equalities works")
async def creation_time_range(t: Target) -> None:
    first, _ = await _fill(t, {"x": 1.0, "tag": "a"}, {"x": 1.0, "tag": "b"})
    time = await t.query("querying:creationTimeOf", {"id": first})
    expect.equal(await t.query("querying:afterCreation", {"x": 1.0, "time": time}), ["b"])


@check(148, "A field the index does not have is refused")
async def field_not_indexed(t: Target) -> None:
    expect.starts(
        await _range_failure(t, "by_x", ("eq", "f", 1.0)),
        f'The index range included a comparison with "f", but {TABLE}.by_x with fields ["x", "_creationTime"] '
        "doesn't index this field.",
    )


@check(149, "Skipping an index field is refused")
async def skipped_field(t: Target) -> None:
    expect.starts(
        await _range_failure(t, "by_x_y", ("eq", "y", 1.0)),
        f"Tried to query index {TABLE}.by_x_y but the query didn't use the index fields in order.",
    )


@check(150, "Two lower bounds on one field are refused")
async def two_lower_bounds(t: Target) -> None:
    expect.equal(
        await _range_failure(t, "by_x", ("gt", "x", 1.0), ("gt", "x", 5.0)),
        'Already defined lower bound in index range. Can\'t add "x" > 5.0.',
    )


@check(151, "Bounds on two fields are refused")
async def bounds_on_two_fields(t: Target) -> None:
    expect.starts(
        await _range_failure(t, "by_x_y", ("gt", "x", 1.0), ("lt", "y", 5.0)),
        "Upper and lower bounds in `range` can only be applied to a single index field.",
    )


@check(152, "An unknown index is named")
async def unknown_index(t: Target) -> None:
    expect.equal(await _range_failure(t, "by_nope"), f"Index {TABLE}.by_nope not found.")


@check(153, "A search index cannot be used as a database index")
async def search_index_as_index(t: Target) -> None:
    expect.equal(await _range_failure(t, "search_text"), f"Index {TABLE}.search_text is not a database index")


@check(154, "A staged index cannot be queried")
async def staged_index(t: Target) -> None:
    expect.equal(
        await _range_failure(t, "staged_z"),
        f"Index {TABLE}.staged_z is currently staged and not available to query until it is enabled.",
    )


@check(155, "A contradictory range is empty")
async def contradictory_range(t: Target) -> None:
    await _fill(t, {"x": 1.0, "tag": "a"})
    expect.equal(await _range(t, "by_x", ("gt", "x", 5.0), ("lt", "x", 1.0)), [])


@check(156, "Descending order reverses the complete key, ties included")
async def descending_index(t: Target) -> None:
    await _fill(t, {"x": 1.0, "tag": "a"}, {"x": 1.0, "tag": "b"}, {"x": 2.0, "tag": "c"})
    expect.equal(await _range(t, "by_x", order="desc"), ["c", "b", "a"])


@check(157, "filter compares fields; a missing field equals only undefined", p1=True)
async def filters(t: Target) -> None:
    await _fill(t, {"a": 1.0, "tag": "one"}, {"a": None, "tag": "null"}, {"tag": "missing"})
    expect.equal(await t.query("querying:filtered", {"kind": "equal"}), ["one"])
    expect.equal(await t.query("querying:filtered", {"kind": "undefined"}), ["missing"])


@check(158, "In a filter gt 5 holds for strings and not for null or missing")
async def filter_across_types(t: Target) -> None:
    await _fill(t, {"a": "text", "tag": "text"}, {"a": None, "tag": "null"}, {"tag": "missing"}, {"a": 6.0, "tag": "6"})
    expect.equal(await t.query("querying:filtered", {"kind": "greater"}), ["text", "6"])


@check(159, "Arithmetic on unlike types in a filter fails")
async def filter_arithmetic(t: Target) -> None:
    await _fill(t, {"tag": "a"})
    failure = await expect.failure(t.query("querying:filtered", {"kind": "add"}))
    expect.equal(failure.plain, 'Cannot add 1.0 (type Float64) and "x" (type String)')


@check(160, "A filter that yields no boolean fails")
async def filter_not_boolean(t: Target) -> None:
    await _fill(t, {"one": 1.0})
    failure = await expect.failure(t.query("querying:filtered", {"kind": "notBoolean"}))
    expect.equal(failure.plain, "Cannot use value 1.0 (type Float64) as a Boolean")


@check(161, "and, or and not combine and stop early")
async def filter_combined(t: Target) -> None:
    await _fill(
        t, {"a": 1.0, "tag": "one"}, {"a": 7.0, "b": True, "tag": "no"}, {"a": 7.0, "tag": "seven"}, {"tag": "none"}
    )
    expect.equal(await t.query("querying:filtered", {"kind": "combined"}), ["one", "seven"])
    expect.equal(len(await t.query("querying:filtered", {"kind": "shortCircuit"})), 4)


@check(162, "first() and unique() of nothing are null", p1=True)
async def first_of_nothing(t: Target) -> None:
    await _fill(t)
    expect.equal(await t.query("querying:firstAndUnique", {"x": 1.0}), {"first": None, "unique": None})


@check(163, "unique() with two matches names them", p1=True)
async def unique_of_two(t: Target) -> None:
    first, second = await _fill(t, {"x": 1.0}, {"x": 1.0})
    failure = await expect.failure(t.query("querying:firstAndUnique", {"x": 1.0}))
    expect.contains(
        failure.plain,
        f"unique() query returned more than one result from table {TABLE}:\n [{first}, {second}, ...]",
    )


@check(164, "take(n) returns and reads at most n documents", p1=True)
async def take(t: Target) -> None:
    await _fill(t, *({"tag": str(n)} for n in range(10)))
    expect.equal(await t.query("querying:takes", {"n": 3.0}), {"length": 3.0, "read": 3.0})


@check(165, "take(-1) is refused")
async def take_negative(t: Target) -> None:
    failure = await expect.failure(t.query("querying:takes", {"n": -1.0}))
    expect.contains(failure.plain, "Arg 1 `n` to `take` must be a non-negative integer")


@check(166, "A for-await loop may stop early and later queries still run")
async def early_break(t: Target) -> None:
    await _fill(t, *({"tag": str(n)} for n in range(5)))
    expect.equal(await t.query("querying:breaksEarly"), {"seen": ["0", "1"], "all": 5.0})


@check(167, "A query object can be used once")
async def reuse(t: Target) -> None:
    failure = await expect.failure(t.query("querying:reuses"))
    expect.matches(failure.plain, r"This query is closed|can't be chained after iteration|Iteration can only begin")


@check(168, "More than 256 operators are refused")
async def many_operators(t: Target) -> None:
    failure = await expect.failure(t.query("querying:manyOperators"))
    expect.contains(failure.plain, "Can't construct query with more than 256 operators")


@check(169, "System tables are read with db.system only")
async def system_tables(t: Target) -> None:
    expect.equal(sorted(await t.query("querying:systemTables")), ["files", "jobs"])
    failure = await expect.failure(t.query("querying:systemTableAsUser"))
    expect.equal(failure.plain, "System tables can only be accessed from db.system.query().")


@check(170, "A query in a mutation sees its own inserts, patches and deletes in index order", p1=True)
async def own_writes(t: Target) -> None:
    await _fill(t, *({"x": float(n), "tag": str(n)} for n in (1, 2, 3, 60)))
    expect.equal(await t.mutation("querying:ownWrites"), ["3", "inserted", "60", "2"])
