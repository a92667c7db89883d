"""Full text search."""

from typing import Any

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

INDEX = "searching_notes.search_body"


async def _fill(t: Target, **bodies: Any) -> None:
    await t.mutation("searching:fill", {"notes": [{"tag": tag, "body": body} for tag, body in bodies.items()]})


async def _find(t: Target, text: str, **filters: str) -> list[str]:
    eq = [{"field": field, "value": value} for field, value in filters.items()]
    found: list[str] = await t.query("searching:find", {"text": text, "eq": eq})
    return found


@check(216, "A word is found in any case", p1=True)
async def any_case(t: Target) -> None:
    await _fill(t, a="Hello there", b="well HELLO", c="goodbye")
    expect.equal(sorted(await _find(t, "hello")), ["a", "b"])


@check(217, "The last word matches as a prefix, the others whole", p1=True)
async def prefix(t: Target) -> None:
    await _fill(t, a="hello world", b="help me")
    expect.equal(sorted(await _find(t, "hel")), ["a", "b"])
    expect.equal(await _find(t, "hel world"), ["a"])
    expect.equal(await _find(t, "hel nothing"), [])


@check(218, "Any of the words is enough; documents with both rank first")
async def any_word(t: Target) -> None:
    await _fill(t, cat="a cat sat", both="cat dog sat", dog="a dog sat")
    found = await _find(t, "cat dog")
    expect.equal((found[0], sorted(found)), ("both", ["both", "cat", "dog"]))


@check(219, "There is no stemming")
async def no_stemming(t: Target) -> None:
    await _fill(t, a="one cat")
    expect.equal(await _find(t, "cats"), [])


@check(220, "There is no typo tolerance")
async def no_typos(t: Target) -> None:
    await _fill(t, a="hello")
    expect.equal(await _find(t, "helo"), [])


@check(221, "Punctuation separates words")
async def punctuation(t: Target) -> None:
    await _fill(t, a="foo-bar_baz")
    for word in ("foo", "bar", "baz"):
        expect.equal(await _find(t, f"{word} x"), ["a"])


@check(222, "A word of 32 bytes is not searchable, one of 31 is")
async def long_words(t: Target) -> None:
    await _fill(t, short="a" * 31, long="b" * 32)
    expect.equal(await _find(t, "a" * 31), ["short"])
    expect.equal(await _find(t, "b" * 32), [])


@check(223, "Only the first 16 words of the query count")
async def sixteen_words(t: Target) -> None:
    await _fill(t, a="needle")
    noise = " ".join(f"noise{n}" for n in range(16))
    expect.equal(await _find(t, f"{noise} needle"), [])
    expect.equal(await _find(t, f"needle {noise}"), ["a"])


@check(224, "A search for nothing finds nothing")
async def nothing(t: Target) -> None:
    await _fill(t, a="hello")
    expect.equal(await _find(t, ""), [])
    expect.equal(await _find(t, "!!!"), [])


@check(225, "Equality filters restrict and are combined; more than 8 are refused", p1=True)
async def filters(t: Target) -> None:
    notes = [
        {"tag": "a", "body": "word", "channel": "x", "author": "ada"},
        {"tag": "b", "body": "word", "channel": "x", "author": "bob"},
        {"tag": "c", "body": "word", "channel": "y", "author": "ada"},
    ]
    await t.mutation("searching:fill", {"notes": notes})
    expect.equal(sorted(await _find(t, "word", channel="x")), ["a", "b"])
    expect.equal(await _find(t, "word", channel="x", author="ada"), ["a"])
    nine = [{"field": "channel", "value": str(n)} for n in range(9)]
    failure = await expect.failure(t.query("searching:find", {"text": "word", "eq": nine}))
    expect.contains(failure.plain, "has too many filter conditions. Max: 8 Actual: 9")


@check(226, "eq undefined matches documents without the field")
async def filter_undefined(t: Target) -> None:
    notes = [{"tag": "with", "body": "word", "channel": "x"}, {"tag": "without", "body": "word"}]
    await t.mutation("searching:fill", {"notes": notes})
    expect.equal(await t.query("searching:findWithoutChannel", {"text": "word"}), ["without"])


@check(227, "A filter on a field that is no filter field is refused")
async def not_a_filter_field(t: Target) -> None:
    failure = await expect.failure(_find(t, "word", tag="a"))
    expect.equal(
        failure.plain,
        f'Search query against {INDEX} contains an equality filter on "tag" '
        "but that field isn't indexed for filtering in `filterFields`.",
    )


@check(228, "A search on another field is refused")
async def wrong_field(t: Target) -> None:
    failure = await expect.failure(t.query("searching:find", {"text": "word", "field": "tag"}))
    expect.equal(
        failure.plain,
        f'Search query against {INDEX} contains a search filter against "tag", '
        'which doesn\'t match the indexed `searchField` "body".',
    )


@check(229, "A search query without a search is refused")
async def without_search(t: Target) -> None:
    failure = await expect.failure(t.query("searching:findWithoutSearch"))
    expect.starts(failure.plain, f"Search query against {INDEX} does not contain any search filters.")


@check(230, "Equal texts come newest first")
async def ties(t: Target) -> None:
    await _fill(t, old="same text", middle="same text", new="same text")
    expect.equal(await _find(t, "same"), ["new", "middle", "old"])


@check(231, "Rare words, short documents and exact matches rank higher")
async def relevance(t: Target) -> None:
    await _fill(t, rare="zebra", common1="horse", common2="horse", common3="horse")
    expect.equal((await _find(t, "zebra horse"))[0], "rare")
    await _fill(t, long="word and many others besides it in here", short="word")
    expect.equal(await _find(t, "word"), ["short", "long"])
    await _fill(t, exact="run", prefixed="running")
    expect.equal(await _find(t, "run"), ["exact", "prefixed"])


@check(232, "A document whose field is no string is never found")
async def not_a_string(t: Target) -> None:
    await _fill(t, text="word", array=["word"], number=5.0)
    expect.equal(await _find(t, "word"), ["text"])


@check(233, "collect() over more than 1024 matches fails; take(1024) does not")
async def too_many(t: Target) -> None:
    await t.mutation("searching:fill", {"notes": [{"tag": "n", "body": "plenty"}] * 1100})
    failure = await expect.failure(_find(t, "plenty"))
    expect.contains(failure.plain, "Search query scanned too many documents (fetched 1024).")
    expect.equal(len(await t.query("searching:find", {"text": "plenty", "take": 1024.0})), 1024)
    await _fill(t)


@check(234, "A mutation's search sees its own inserts and deletes")
async def own_writes(t: Target) -> None:
    await _fill(t)
    expect.equal(await t.mutation("searching:ownWrites"), {"before": [], "inserted": ["own"], "deleted": []})


@check(235, "A subscribed search re-runs when a matching document is inserted")
async def live_search(t: Target) -> None:
    await _fill(t)
    async with t.sync() as client:
        (found,) = await client.subscribe(("searching:find", {"text": "live"}))
        await t.mutation("searching:add", {"note": {"tag": "new", "body": "it is live"}})
        await client.until(lambda: found.latest == ["new"])


@check(236, "Pages of a search do not overlap")
async def pages(t: Target) -> None:
    await _fill(t, **{f"t{n}": "word" + " filler" * n for n in range(5)})
    options: dict[str, Any] = {"numItems": 2.0, "cursor": None}
    seen: list[str] = []
    for _ in range(4):
        page = await t.query("searching:page", {"text": "word", "paginationOpts": options})
        seen += page["page"]
        if page["isDone"]:
            break
        options["cursor"] = page["continueCursor"]
    expect.equal(seen, ["t0", "t1", "t2", "t3", "t4"])


@check(237, "A search cannot be ordered by hand")
async def no_order(t: Target) -> None:
    failure = await expect.failure(t.query("searching:ordered"))
    expect.contains(failure.plain, "Search queries must always be in relevance order. Can not set order manually.")
