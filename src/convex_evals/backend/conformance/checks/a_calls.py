"""Calling functions."""

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

NOT_FOUND = "Could not find public function for"


@check(1, "A public query returns its value; a handler that returns nothing yields null", p1=True)
async def returns_its_value(t: Target) -> None:
    expect.equal(await t.query("calling:echo", {"body": "hi"}), "hi")
    expect.equal(await t.query("calling:nothing"), None)


@check(2, "An unknown function is reported as not found", p1=True)
async def unknown_function(t: Target) -> None:
    failure = await expect.failure(t.query("calling:nope"))
    expect.equal(failure.plain, f"{NOT_FOUND} 'calling:nope'.")


@check(3, "An internal function looks unknown to a client", p1=True)
async def internal_function(t: Target) -> None:
    failure = await expect.failure(t.query("calling:hidden"))
    expect.equal(failure.plain, f"{NOT_FOUND} 'calling:hidden'.")


@check(4, "An internal function runs for an admin identity")
async def internal_function_for_admin(t: Target) -> None:
    expect.equal(await t.admin.query("calling:hidden"), "seen")


@check(5, "A mutation called as a query is refused by its type", p1=True)
async def mutation_as_query(t: Target) -> None:
    failure = await expect.failure(t.query("calling:send", {"body": "x"}))
    expect.equal(failure.plain, "Trying to execute calling.js:send as Query, but it is defined as Mutation.")


@check(6, "An action called as a mutation is refused by its type")
async def action_as_mutation(t: Target) -> None:
    failure = await expect.failure(t.mutation("calling:act"))
    expect.equal(failure.plain, "Trying to execute calling.js:act as Mutation, but it is defined as Action.")


@check(7, "A default export is callable by the module's name and as `mod:default`, and is named `mod.js:default`")
async def default_export(t: Target) -> None:
    expect.equal(await t.query("defaulted", {"x": 1.0}), 1.0)
    expect.equal(await t.query("defaulted:default", {"x": 2.0}), 2.0)
    failure = await expect.failure(t.mutation("defaulted", {"x": 1.0}))
    expect.contains(failure.plain, "Trying to execute defaulted.js:default as Mutation")


@check(8, "A nested module path works; a path inside `_deps/` is never callable")
async def nested_path(t: Target) -> None:
    expect.equal(await t.query("dir/nested:deep"), "deep")
    expect.contains((await expect.failure(t.admin.query("_deps/x:deep"))).plain, "Could not find")


@check(9, "A missing required argument is named in an ArgumentValidationError without `Uncaught`", p1=True)
async def missing_argument(t: Target) -> None:
    failure = await expect.failure(t.query("calling:echo"))
    expect.starts(failure.message, "ArgumentValidationError: Object is missing the required field `body`.")


@check(10, "An extra argument is named in an ArgumentValidationError", p1=True)
async def extra_argument(t: Target) -> None:
    failure = await expect.failure(t.query("calling:echo", {"body": "a", "x": 1.0}))
    expect.starts(
        failure.message, "ArgumentValidationError: Object contains extra field `x` that is not in the validator."
    )


@check(11, "An argument of the wrong type is shown with path, value and validator", p1=True)
async def wrong_argument_type(t: Target) -> None:
    failure = await expect.failure(t.query("calling:echo", {"body": 1.0}))
    expect.starts(
        failure.message,
        "ArgumentValidationError: Value does not match validator.\nPath: .body\nValue: 1.0\nValidator: v.string()",
    )


@check(12, "An id of another table is refused as an argument")
async def id_of_another_table(t: Target) -> None:
    other = await t.mutation("calling:insertOther")
    failure = await expect.failure(t.query("calling:takesNoteId", {"id": other}))
    expect.contains(
        failure.message,
        f'Found ID "{other}" from table `calling_others`, '
        'which does not match the table name in validator `v.id("calling_notes")`.',
    )


@check(13, "A function without an args validator accepts any object")
async def no_validator(t: Target) -> None:
    expect.equal(await t.query("calling:unchecked", {"anything": [1.0]}), {"anything": [1.0]})


@check(14, "Arguments above 16 MiB are refused")
async def arguments_too_large(t: Target) -> None:
    text = "x" * (16 * 1024 * 1024 + 100)
    failure = await expect.failure(t.query("calling:lengthOf", {"text": text}))
    expect.matches(failure.plain, r"^Arguments for calling\.js:lengthOf are too large \(actual: .*, limit: 16 MiB\)$")


@check(15, "A return value above 16 MiB is refused")
async def return_too_large(t: Target) -> None:
    failure = await expect.failure(t.query("calling:big"))
    expect.matches(failure.plain, r"^Function calling\.js:big return value is too large \(actual: .*, limit: 16 MiB\)$")


@check(16, "A return value that violates `returns` fails the call and commits nothing", p1=True)
async def wrong_return(t: Target) -> None:
    expect.starts((await expect.failure(t.query("calling:wrongReturn"))).message, "ReturnsValidationError: ")
    before = await t.query("calling:count")
    await expect.failure(t.mutation("calling:writeThenWrongReturn"))
    expect.equal(await t.query("calling:count"), before)


@check(17, "A returned array of 8193 elements is too long")
async def long_array(t: Target) -> None:
    failure = await expect.failure(t.query("calling:longArray"))
    expect.equal(
        failure.plain,
        "Function calling.js:longArray return value invalid: Array length is too long (8193 > maximum length 8192)",
    )


@check(18, "Returning a query that was not executed is an error")
async def returns_query(t: Target) -> None:
    failure = await expect.failure(t.query("calling:queryObject"))
    expect.contains(failure.plain, "Return value is a Query. Results must be retrieved with")


@check(19, "A handler whose promise never settles fails")
async def never_settles(t: Target) -> None:
    expect.equal((await expect.failure(t.query("calling:neverSettles"))).plain, "Returned promise will never resolve")


@check(20, "An insert that is not awaited is still committed")
async def unawaited_insert(t: Target) -> None:
    before = await t.query("calling:count")
    await t.mutation("calling:unawaitedInsert")
    expect.equal(await t.query("calling:count"), before + 1)


@check(21, "An insert that is not awaited is lost when the mutation throws")
async def unawaited_insert_lost(t: Target) -> None:
    before = await t.query("calling:count")
    await expect.failure(t.mutation("calling:unawaitedInsertThenThrow"))
    expect.equal(await t.query("calling:count"), before)


@check(22, "A rejected promise that nobody handles fails the query although it returned")
async def unhandled_rejection(t: Target) -> None:
    failure = await expect.failure(t.query("calling:unhandledRejection"))
    expect.contains(failure.message, "Uncaught Error: nobody caught this")


@check(23, "Every type of value survives a round trip")
async def round_trip(t: Target) -> None:
    for value in (None, 42, -1, 1.5, float("inf"), True, "text ☃", b"\x01\x02", [1.0, "a"], {"a": {"b": None}}):
        expect.equal(await t.query("calling:roundTrip", {"value": value}), value)
    nan = await t.query("calling:roundTrip", {"value": float("nan")})
    expect.true(nan != nan, f"NaN came back as {nan!r}")
    expect.equal(str(await t.query("calling:roundTrip", {"value": -0.0})), "-0.0")


@check(24, "-0, NaN, bigint and bytes travel in their encoded forms")
async def encoded_forms(t: Target) -> None:
    raw = await t.client.raw("query", "calling:specials", {})
    expect.equal(
        raw["value"],
        {
            "big": {"$integer": "KgAAAAAAAAA="},
            "bytes": {"$bytes": "AQI="},
            "infinity": {"$float": "AAAAAAAA8H8="},
            "nan": {"$float": "AAAAAAAA+H8="},
            "negativeZero": {"$float": "AAAAAAAAAIA="},
        },
    )


@check(25, "Object keys come back sorted by name")
async def sorted_keys(t: Target) -> None:
    expect.equal(list(await t.query("calling:unsortedKeys")), ["C", "a", "b"])
