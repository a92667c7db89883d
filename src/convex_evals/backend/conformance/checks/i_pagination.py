"""Pagination."""

from typing import Any

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target


async def _fill(t: Target, count: int) -> None:
    await t.mutation("paging:fill", {"numbers": [float(n) for n in range(1, count + 1)]})


def _options(items: int, cursor: str | None = None, **more: Any) -> dict[str, Any]:
    return {"paginationOpts": {"numItems": float(items), "cursor": cursor, **more}}


async def _page(t: Target, items: int, cursor: str | None = None, function: str = "page", **more: Any) -> Any:
    return await t.query(f"paging:{function}", _options(items, cursor, **more))


@check(171, "Pages of 3 over 5 documents: 3 not done, then 2 done", p1=True)
async def two_pages(t: Target) -> None:
    await _fill(t, 5)
    first = await _page(t, 3)
    expect.equal((first["page"], first["isDone"]), ([1.0, 2.0, 3.0], False))
    second = await _page(t, 3, first["continueCursor"])
    expect.equal((second["page"], second["isDone"]), ([4.0, 5.0], True))


@check(172, "A page that is exactly full is not done; the next one is empty and done")
async def exactly_full(t: Target) -> None:
    await _fill(t, 3)
    first = await _page(t, 3)
    expect.equal((len(first["page"]), first["isDone"]), (3, False))
    second = await _page(t, 3, first["continueCursor"])
    expect.equal((second["page"], second["isDone"]), ([], True))


@check(173, "With a filter a page is filled with matches and the cursor passes what was skipped")
async def with_filter(t: Target) -> None:
    await _fill(t, 9)
    first = await _page(t, 2, function="pageOfEven")
    expect.equal(first["page"], [2.0, 4.0])
    second = await _page(t, 5, first["continueCursor"], function="pageOfEven")
    expect.equal((second["page"], second["isDone"]), ([6.0, 8.0], True))


@check(174, "A cursor survives the deletion of its document")
async def deleted_at_cursor(t: Target) -> None:
    await _fill(t, 4)
    first = await _page(t, 2)
    await t.mutation("paging:removeNumber", {"n": 2.0})
    expect.equal((await _page(t, 2, first["continueCursor"]))["page"], [3.0, 4.0])


@check(175, "A cursor of another query is refused with a ConvexError")
async def foreign_cursor(t: Target) -> None:
    await _fill(t, 4)
    first = await _page(t, 2)
    failure = await expect.failure(_page(t, 2, first["continueCursor"], function="pageDescending"))
    expect.equal(failure.data, {"isConvexSystemError": True, "paginationError": "InvalidCursor"})
    expect.contains(failure.message, "InvalidCursor: ")


@check(176, "A garbage cursor is refused")
async def garbage_cursor(t: Target) -> None:
    expect.equal((await expect.failure(_page(t, 2, "garbage"))).plain, "Failed to parse cursor")


@check(177, "A page of 0 items is refused")
async def no_items(t: Target) -> None:
    failure = await expect.failure(_page(t, 0))
    expect.equal(failure.plain, "Must request at least 1 document while paginating")


@check(178, "Only one paginated query per function")
async def one_per_function(t: Target) -> None:
    failure = await expect.failure(t.query("paging:twoPages"))
    expect.equal(
        failure.plain,
        "This query or mutation function ran multiple paginated queries. "
        "Convex only supports a single paginated query in each function.",
    )


@check(179, "A loaded page grows with an insert and shrinks with a delete", p1=True)
async def reactive_page(t: Target) -> None:
    await t.mutation("paging:fill", {"numbers": [1.0, 2.0, 4.0, 5.0]})
    async with t.sync() as client:
        (page,) = await client.subscribe(("paging:page", _options(3)))
        expect.equal(page.latest["page"], [1.0, 2.0, 4.0])
        await client.mutation("paging:add", {"n": 3.0})
        expect.equal(page.latest["page"], [1.0, 2.0, 3.0, 4.0])
        await client.mutation("paging:removeNumber", {"n": 1.0})
        expect.equal(page.latest["page"], [2.0, 3.0, 4.0])


@check(180, "With an end cursor the page is exactly what lies between, whatever numItems says")
async def end_cursor(t: Target) -> None:
    await _fill(t, 6)
    first = await _page(t, 1)
    end = (await _page(t, 5))["continueCursor"]
    between = await _page(t, 1, first["continueCursor"], endCursor=end)
    expect.equal((between["page"], between["continueCursor"]), ([2.0, 3.0, 4.0, 5.0], end))


@check(181, "maximumRowsRead ends a page early and asks for a split")
async def maximum_rows(t: Target) -> None:
    await _fill(t, 6)
    page = await _page(t, 3, function="pageOfNone", maximumRowsRead=2.0)
    expect.equal((page["page"], page["pageStatus"], page["isDone"]), ([], "SplitRequired", False))


@check(182, "Equal inputs give equal cursors")
async def equal_cursors(t: Target) -> None:
    await _fill(t, 4)
    expect.equal((await _page(t, 2))["continueCursor"], (await _page(t, 2))["continueCursor"])


@check(183, "splitCursor is null for small pages and else lies near the middle")
async def split_cursor(t: Target) -> None:
    await _fill(t, 8)
    expect.equal((await _page(t, 2))["splitCursor"], None)
    page = await _page(t, 6)
    half = await _page(t, 6, None, endCursor=page["splitCursor"])
    expect.true(2 <= len(half["page"]) <= 4, f"the split leaves {half['page']}")


@check(184, "Paginating from the end gives an empty page, also after new inserts")
async def from_the_end(t: Target) -> None:
    await _fill(t, 2)
    last = await _page(t, 5)
    await t.mutation("paging:add", {"n": 99.0})
    after = await _page(t, 5, last["continueCursor"])
    expect.equal((after["page"], after["isDone"]), ([], True))
