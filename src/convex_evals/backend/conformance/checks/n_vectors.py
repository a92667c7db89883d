"""Vector search."""

from typing import Any

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

INDEX = "searching_vectors.by_embedding"
NORTH, EAST, SOUTH = [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]


async def _fill(t: Target, *points: dict[str, Any]) -> None:
    await t.mutation("searching:fillVectors", {"points": list(points)})


async def _nearest(t: Target, vector: list[float], **more: Any) -> list[str]:
    found = await t.action("searching:nearest", {"vector": vector, **more})
    return [one["tag"] for one in found]


@check(238, "Results are sorted by cosine similarity, best first", p1=True)
async def sorted_by_similarity(t: Target) -> None:
    await _fill(
        t,
        {"tag": "east", "embedding": EAST},
        {"tag": "north", "embedding": NORTH},
        {"tag": "between", "embedding": [0.5, 1.0, 0.0]},
    )
    expect.equal(await _nearest(t, NORTH), ["north", "between", "east"])


@check(239, "Scores run from -1 to 1 and do not depend on magnitude")
async def scores(t: Target) -> None:
    await _fill(t, {"tag": "far", "embedding": [0.0, 500.0, 0.0]}, {"tag": "back", "embedding": SOUTH})
    found = await t.action("searching:nearest", {"vector": NORTH})
    for one, expected in zip(found, (1.0, -1.0), strict=True):
        expect.true(abs(one["score"] - expected) < 1e-5, f"{one['tag']} scores {one['score']}")


@check(240, "The default limit is 10; more than 256 is refused")
async def limits(t: Target) -> None:
    await _fill(t, *({"tag": str(n), "embedding": [1.0, n / 10, 0.0]} for n in range(12)))
    expect.equal(len(await _nearest(t, EAST)), 10)
    expect.equal(len(await _nearest(t, EAST, limit=12.0)), 12)
    failure = await expect.failure(_nearest(t, EAST, limit=257.0))
    expect.contains(failure.plain, "Vector queries can fetch at most 256 results, requested 257.")


@check(241, "A vector of the wrong size is refused")
async def wrong_size(t: Target) -> None:
    failure = await expect.failure(_nearest(t, [1.0, 0.0]))
    expect.contains(failure.plain, "Expected a vector with dimensions 3, received 2.")


@check(242, "Filters restrict by equality, also across fields", p1=True)
async def filters(t: Target) -> None:
    await _fill(
        t,
        {"tag": "a", "embedding": NORTH, "genre": "x"},
        {"tag": "b", "embedding": NORTH, "genre": "y"},
        {"tag": "c", "embedding": NORTH, "genre": "z", "lang": "en"},
    )
    expect.equal(await _nearest(t, NORTH, **{"or": [{"field": "genre", "value": "x"}]}), ["a"])
    either = [{"field": "genre", "value": "y"}, {"field": "lang", "value": "en"}]
    expect.equal(sorted(await _nearest(t, NORTH, **{"or": either})), ["b", "c"])


@check(243, "A filter on a field that is no filter field is refused")
async def not_a_filter_field(t: Target) -> None:
    failure = await expect.failure(_nearest(t, NORTH, **{"or": [{"field": "tag", "value": "x"}]}))
    expect.contains(
        failure.plain,
        f'Vector query against {INDEX} contains a filter on "tag" '
        "but that field isn't indexed for filtering in `filterFields`.",
    )


@check(244, "More than 64 conditions are refused")
async def too_many_conditions(t: Target) -> None:
    many = [{"field": "genre", "value": str(n)} for n in range(65)]
    failure = await expect.failure(_nearest(t, NORTH, **{"or": many}))
    expect.contains(failure.plain, f"Vector query against {INDEX} has too many conditions. Max: 64 Actual: 65")


@check(245, "Documents with a missing or ill-sized vector are stored and never returned")
async def unindexed_documents(t: Target) -> None:
    await _fill(
        t,
        {"tag": "good", "embedding": NORTH},
        {"tag": "missing"},
        {"tag": "short", "embedding": [1.0]},
        {"tag": "text", "embedding": "north"},
    )
    expect.equal(await _nearest(t, NORTH), ["good"])


@check(246, "A vector index of 1 dimension fails the push", owns_deployment=True)
async def one_dimension(t: Target) -> None:
    schema = (
        'import { defineSchema, defineTable } from "convex/server";\nimport { v } from "convex/values";\n'
        "export default defineSchema({ t: defineTable({ e: v.array(v.float64()) })"
        '.vectorIndex("i", { vectorField: "e", dimensions: 1 }) });\n'
    )
    pushed = await t.push_only({"convex/schema.ts": schema})
    expect.true(not pushed.ok, "the push was accepted")
    expect.contains(pushed.output, "Dimensions 1 must be between 2 and 4096.")


@check(247, "Deleted and changed documents disappear or move at once")
async def fresh(t: Target) -> None:
    await _fill(t, {"tag": "a", "embedding": NORTH}, {"tag": "b", "embedding": EAST})
    await t.mutation("searching:moveVector", {"tag": "a", "embedding": SOUTH})
    expect.equal(await _nearest(t, NORTH), ["b", "a"])
    await t.mutation("searching:moveVector", {"tag": "b"})
    expect.equal(await _nearest(t, NORTH), ["a"])
