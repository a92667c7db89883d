"""Values, ids, documents."""

import re

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target


@check(99, "New ids are 32 characters of the Crockford alphabet and belong to their table", p1=True)
async def id_format(t: Target) -> None:
    user = await t.mutation("documents:addUser")
    expect.true(re.fullmatch("[0-9a-hjkmnp-tv-z]{32}", user), f"found {user!r}")
    expect.equal(await t.query("documents:normalize", {"id": user}), user)


@check(100, "An id that cannot be decoded is refused by db.get")
async def garbage_id(t: Target) -> None:
    failure = await expect.failure(t.query("documents:get", {"id": "garbage"}))
    expect.starts(failure.plain, "Invalid argument `id` for `db.get`: Unable to decode ID: ")


@check(101, "db.get with a table refuses an id of another one")
async def id_of_wrong_table(t: Target) -> None:
    post = await t.mutation("documents:addPost")
    failure = await expect.failure(t.query("documents:getAsUser", {"id": post}))
    expect.equal(
        failure.plain,
        "Invalid argument `id` for `db.get`: "
        'expected to be an Id<"documents_users">, got Id<"documents_posts"> instead.',
    )


@check(102, "db.get of a deleted document is null", p1=True)
async def deleted_document(t: Target) -> None:
    user = await t.mutation("documents:addUser")
    await t.mutation("documents:removeUser", {"id": user})
    expect.equal(await t.query("documents:get", {"id": user}), None)


@check(103, "db.normalizeId knows ids of the table and answers null for all others", p1=True)
async def normalize_id(t: Target) -> None:
    expect.equal(await t.query("documents:normalize", {"id": await t.mutation("documents:addPost")}), None)
    expect.equal(await t.query("documents:normalize", {"id": "garbage"}), None)


@check(104, "_creationTime is a float near Date.now(), increasing inside one mutation")
async def creation_time(t: Target) -> None:
    result = await t.mutation("documents:creationTimes")
    times = result["times"]
    expect.true(all(isinstance(one, float) for one in times), f"found {times!r}")
    expect.equal(times, sorted(set(times)))
    expect.true(abs(times[0] - result["now"]) < 1000, f"{times[0]} is far from {result['now']}")


@check(105, "A document above 1 MiB is refused")
async def big_document(t: Target) -> None:
    failure = await expect.failure(t.mutation("documents:insertBig", {"bytes": 1_100_000.0}))
    expect.matches(failure.plain, r"Value is too large \(.* > maximum size 1 MiB\)")


@check(106, "A document nested 17 levels deep is refused")
async def nested_document(t: Target) -> None:
    await t.mutation("documents:insertNested", {"levels": 16.0})
    failure = await expect.failure(t.mutation("documents:insertNested", {"levels": 17.0}))
    expect.contains(failure.plain, "Document is too nested (nested 17 levels deep > maximum nesting 16)")


@check(107, "An array of 8193 elements in a document is refused")
async def long_array(t: Target) -> None:
    failure = await expect.failure(t.mutation("documents:insertLongArray"))
    expect.contains(failure.plain, "Array length is too long (8193 > maximum length 8192)")


@check(108, "An object of 1025 fields is refused")
async def wide_object(t: Target) -> None:
    failure = await expect.failure(t.mutation("documents:insertWide"))
    expect.contains(failure.plain, "Object has too many fields (1025 > maximum number 1024)")


@check(109, "Field names that start with $ or are not ASCII are refused")
async def field_names(t: Target) -> None:
    dollar = await expect.failure(t.mutation("documents:insertField", {"name": "$x"}))
    expect.contains(dollar.plain, "Field name $x starts with '$', which is reserved.")
    accent = await expect.failure(t.mutation("documents:insertField", {"name": "é"}))
    expect.contains(accent.plain, "Field names can only contain non-control ASCII characters")


@check(110, "Undefined fields are dropped on insert")
async def undefined_fields(t: Target) -> None:
    expect.equal(await t.mutation("documents:insertUndefined"), ["_creationTime", "_id", "kept"])
