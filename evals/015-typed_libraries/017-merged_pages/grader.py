"""Several indexed queries merged into one list of pages: what they contain, what they read, and which types fit."""

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

Fields = dict[str, Any]
# The name, the table, which documents are in the range, the fields from the key on, and which of them are wanted.
Source = tuple[str, str, Callable[[Fields], bool], Callable[[Fields], list[Any]], Callable[[Fields], bool]]
ORDERS = ("asc", "desc")


def source(
    name: str,
    table: str,
    has: Callable[[Fields], bool],
    rest: Callable[[Fields], list[Any]],
    where: Callable[[Fields], bool] = lambda _: True,
) -> Source:
    return name, table, has, rest, where


def sources_of(function: str, args: Fields) -> list[Source]:
    user = args.get("userId")
    by_author = (lambda each: each["authorId"] == user, lambda each: [each["publishedAt"]])
    by_owner = (lambda each: each["ownerId"] == user, lambda each: [each["takenAt"]])
    match function:
        case "byPerson":
            notes = source("notes", "notes", lambda each: each["ownerId"] == user, lambda each: [each["time"]])
            return [source("articles", "articles", *by_author), notes, source("media", "media", *by_owner)]
        case "names":
            people = source("people", "users", lambda _: True, lambda each: [each["name"].encode()])
            in_section = lambda each: each["section"] == args["section"]  # noqa: E731
            return [people, source("articles", "articles", in_section, lambda each: [each["title"].encode()])]
        case "finished":
            return [
                source("articles", "articles", *by_author, lambda each: not each["draft"]),
                source("photos", "media", *by_owner, lambda each: each["kind"] == "photo"),
            ]
        case "ranked":

            def ranks(each: Fields) -> list[Any]:
                return [each["meta"]["rank"], each["text"].encode()]

            return [
                source("first", "notes", lambda each: each["meta"]["language"] == args["first"], ranks),
                source("second", "notes", lambda each: each["meta"]["language"] == args["second"], ranks),
                source(
                    "unpinned",
                    "notes",
                    lambda each: each["ownerId"] == user and "pinned" not in each,
                    lambda each: [each["time"]],
                ),
            ]
        case _:
            return [
                source("users", "users", lambda _: True, lambda _: []),
                source("notes", "notes", lambda each: each["ownerId"] == user, lambda _: []),
                source("media", "media", lambda _: True, lambda _: []),
            ]


def merged(project: Deployment, function: str, args: Fields, *, unwanted: bool = False) -> list[Fields]:
    found: list[tuple[Any, int, list[Any], Fields]] = []
    for rank, (name, table, has, rest, where) in enumerate(sources_of(function, args)):
        for document in project.documents(table):
            if has(document) and (unwanted or where(document)):
                values = [*rest(document), document["_creationTime"]]
                found.append((values[0], rank, values, {"source": name, "document": document}))
    found.sort(key=lambda each: each[:3], reverse=args["order"] == "desc")
    return [item for *_, item in found]


def article(author: str, at: float = 0, **fields: Any) -> Fields:
    return {"authorId": author, "section": "s", "title": "t", "publishedAt": at, "draft": False, **fields}


def note(owner: str, time: float = 0, language: str = "en", rank: float = 0, **fields: Any) -> Fields:
    return {"ownerId": owner, "text": "n", "time": time, "meta": {"language": language, "rank": rank}, **fields}


def photo(owner: str, at: float = 0) -> Fields:
    return {"kind": "photo", "ownerId": owner, "takenAt": at, "width": 5}


def clip(owner: str, at: float = 0) -> Fields:
    return {"kind": "clip", "ownerId": owner, "takenAt": at, "seconds": 5}


@pytest.fixture
def users(project: Deployment) -> list[str]:
    return project.insert_many("users", [{"name": "Ada"}, {"name": "Ben", "joined": 5}])


def fill(project: Deployment, users: list[str], chance: random.Random, count: int = 12) -> None:
    """Many equal keys, and documents of both users."""

    def key() -> float:
        return chance.choice([-1, 0, 0.5, 1, 2, 3])

    def owner() -> str:
        return chance.choice([users[0], users[0], users[1]])

    for _ in range(count):
        project.insert_many(
            "articles",
            [article(owner(), key(), draft=chance.random() < 0.4, title=chance.choice("abc")) for _ in range(2)],
        )
        extra: Fields = chance.choice([{}, {}, {"pinned": True}, {"pinned": False}])
        language = chance.choice(["en", "de", "fr"])
        project.insert("notes", note(owner(), key(), language, key(), text=chance.choice("xyz"), **extra))
        project.insert("media", chance.choice([photo, clip])(owner(), key()))


def check(project: Deployment, function: str, num_items: int, args: Fields) -> None:
    """All pages together, how long each is, and what each reads."""
    expected = merged(project, function, args)
    everything = merged(project, function, args, unwanted=True)
    with project.trace() as work:
        pages = project.pages(f"feed:{function}", args, num_items=num_items)
    assert [item for page in pages for item in page.items] == expected
    full, rest = divmod(len(expected), num_items)
    sizes = [num_items] * full + ([rest] if rest else [])
    assert [len(page.items) for page in pages] in (sizes, [*sizes, 0])
    places = [everything.index(item) for item in expected]
    count = len(sources_of(function, args))
    begin = done = 0
    for call, page in zip(work.calls_of(f"feed:{function}"), pages, strict=True):
        done += len(page.items)
        end = places[done - 1] + 1 if len(page.items) == num_items else len(everything)
        assert call.documents_read <= end - begin + count
        begin = end


def arguments(users: list[str], function: str, order: str) -> Fields:
    extra: dict[str, Fields] = {"names": {"section": "s"}, "ranked": {"first": "en", "second": "de"}}
    user = {} if function == "names" else {"userId": users[0]}
    return {"order": order, **user, **extra.get(function, {})}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("function", ["byPerson", "names", "finished", "ranked", "recent"])
def test_pages_have_every_item_once_and_in_order(
    project: Deployment, users: list[str], function: str, order: str
) -> None:
    fill(project, users, random.Random(function + order))
    for num_items in (1, 4, 7, 100):
        check(project, function, num_items, arguments(users, function, order))


@pytest.mark.parametrize("function", ["byPerson", "finished", "ranked"])
def test_without_documents_there_is_one_empty_page(project: Deployment, users: list[str], function: str) -> None:
    args = arguments(users, function, "asc")
    project.insert("articles", article(users[1]))
    pages = project.pages(f"feed:{function}", args, num_items=5)
    assert [(page.items, page.is_done) for page in pages] == [([], True)]


@pytest.mark.parametrize("order", ORDERS)
def test_equal_keys_are_in_the_order_of_the_sources(project: Deployment, users: list[str], order: str) -> None:
    project.insert_many("media", [photo(users[0], 5), clip(users[0], 5)])
    project.insert_many("notes", [note(users[0], 5), note(users[0], 5)])
    project.insert_many("articles", [article(users[0], 5), article(users[0], 5)])
    args = arguments(users, "byPerson", order)
    names = ["articles", "articles", "notes", "notes", "media", "media"]
    for num_items in (1, 3, 6):
        pages = project.pages("feed:byPerson", args, num_items=num_items)
        received = [item["source"] for page in pages for item in page.items]
        assert received == (names if order == "asc" else names[::-1])
        check(project, "byPerson", num_items, args)


@pytest.mark.parametrize("order", ORDERS)
def test_strings_are_ordered_as_in_indexes(project: Deployment, users: list[str], order: str) -> None:
    texts = ["", "a", "B", "ab", "é", "z", "\uff5e", "\U0001f600", "\U0001f600a", "\ufb00", "10", "9"]
    project.insert_many("users", [{"name": text} for text in texts[::2]])
    project.insert_many("articles", [article(users[0], title=text) for text in texts])
    for num_items in (1, 5):
        check(project, "names", num_items, arguments(users, "names", order))


@pytest.mark.parametrize("order", ORDERS)
def test_many_equal_keys_cost_no_more(project: Deployment, users: list[str], order: str) -> None:
    project.insert_many("articles", [article(users[0], 5) for _ in range(60)])
    project.insert_many("notes", [note(users[0], 5) for _ in range(60)])
    project.insert_many("media", [photo(users[0], 5) for _ in range(60)])
    project.insert_many("media", [photo(users[1], 5) for _ in range(60)])
    check(project, "byPerson", 20, arguments(users, "byPerson", order))


def test_documents_that_are_dropped_are_read_only_on_the_way(project: Deployment, users: list[str]) -> None:
    project.insert_many("articles", [article(users[0], 1000 + at, draft=True) for at in range(200)])
    project.insert_many("media", [photo(users[0], at) for at in range(20)])
    args = arguments(users, "finished", "asc")
    options = {"numItems": 10, "cursor": None}
    with project.trace() as work:
        result = project.query("feed:finished", args, paginationOpts=options)
    assert [item["document"]["takenAt"] for item in result["page"]] == list(range(10))
    assert work.documents_read <= 12


def page_of(project: Deployment, args: Fields, **options: Any) -> Fields:
    result: Fields = project.query("feed:byPerson", args, paginationOpts={"numItems": 4, "cursor": None, **options})
    return result


@pytest.mark.parametrize("order", ORDERS)
def test_a_page_begins_where_the_one_before_ended(project: Deployment, users: list[str], order: str) -> None:
    fill(project, users, random.Random(order))
    args = arguments(users, "byPerson", order)
    first = page_of(project, args)
    expected = merged(project, "byPerson", args)
    assert first["page"] == expected[:4]
    last = first["page"][-1]
    table = {"articles": "articles", "notes": "notes", "media": "media"}[last["source"]]
    project.delete(table, last["document"]["_id"])
    before, after = (-9, 9) if order == "asc" else (9, -9)
    project.insert("articles", article(users[0], before))
    project.insert("notes", note(users[0], after))
    now = merged(project, "byPerson", args)
    second = page_of(project, args, cursor=first["continueCursor"], numItems=100)
    assert second["page"] == now[4:]
    assert second["page"][:-1] == expected[4:]


@pytest.mark.parametrize("seed", range(4))
def test_pages_with_an_end_fit_together(project: Deployment, users: list[str], seed: int) -> None:
    chance = random.Random(seed)
    args = arguments(users, "byPerson", chance.choice(ORDERS))
    fill(project, users, chance, 8)
    cursors: list[Any] = [None]
    while len(cursors) < 5:
        cursors.append(page_of(project, args, cursor=cursors[-1], numItems=3, endCursor=None)["continueCursor"])
    for _ in range(5):
        fill(project, users, chance, 1)
        gone = chance.choice(merged(project, "byPerson", args))
        project.delete(gone["source"], gone["document"]["_id"])
        together: list[Fields] = []
        for begin, end in pairwise(cursors):
            result = page_of(project, args, cursor=begin, endCursor=end, numItems=3)
            follows = page_of(project, args, cursor=result["continueCursor"], numItems=1)
            assert follows["page"] == page_of(project, args, cursor=end, numItems=1)["page"]
            together += result["page"]
        together += page_of(project, args, cursor=cursors[-1], numItems=200)["page"]
        assert together == merged(project, "byPerson", args)


def test_clients_can_call_five_queries(project: Deployment, users: list[str]) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    functions = ["byPerson", "names", "finished", "ranked", "recent"]
    assert public == {f"feed:{name}": "query" for name in functions}
    for function in functions:
        right = {**arguments(users, function, "asc"), "paginationOpts": {"numItems": 5, "cursor": None}}
        assert set(project.query(f"feed:{function}", right)) >= {"page", "isDone", "continueCursor"}
        for name in right:
            with project.fails("ArgumentValidationError"):
                project.query(f"feed:{function}", right | {name: 5})
            with project.fails("ArgumentValidationError"):
                project.query(f"feed:{function}", {other: right[other] for other in right if other != name})
        with project.fails("ArgumentValidationError"):
            project.query(f"feed:{function}", right | {"order": "up"})
        assert project.functions()[f"feed:{function}"].returns is not None


START = """import { type FunctionReturnType, paginationResultValidator } from "convex/server";
import { type Infer, v } from "convex/values";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import { mergedItem, mergedPage, source } from "./lib/merged";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Photo = Extract<Doc<"media">, { kind: "photo" }>;
declare const ctx: QueryCtx;
declare const writing: MutationCtx;
declare const userId: Id<"users">;
declare const articleId: Id<"articles">;
declare const maybe: boolean | undefined;
const options = { order: "asc" as const, paginationOpts: { numItems: 5, cursor: null } };
"""
FEED = """const articles = source("articles", "by_author_and_published", [userId]);
const photos = source("media", "by_owner_and_taken", [userId], (each) => each.kind === "photo");
const everyone = source("users", "by_name", []);
const result = await mergedPage(ctx, { articles, photos, notes: source("notes", "by_owner", [userId]) }, options);
const [item] = result.page;
"""


def from_(*parts: str) -> str:
    return f"export const found = source({', '.join(parts)});"


def page(*sources: str) -> str:
    return f"export const found = mergedPage(ctx, {{ {', '.join(sources)} }}, options);"


def narrowed(where: str, type: str = 'Extract<Doc<"media">, { kind: "photo" }>') -> str:
    return (
        f'const found = await mergedPage(ctx, {{ one: source("media", "by_creation_time", [], {where}) }}, options);\n'
        f"export const same: Same<(typeof found)['page'][number], {{ source: \"one\"; document: {type} }}> = true;"
    )


OWN = '"notes", "by_owner_pinned_time"'
RANK = '"notes", "by_language_rank_text"'
AUTHOR = '"articles", "by_author_and_published"'
PREDICATE = '(each): each is Photo => each.kind === "photo" && each.width > 5'
ITEM = 'const one = mergedItem({ articles: "articles", mine: "notes" });\n'
WITHIN = """const all = paginationResultValidator(one);
const some = v.object({ some: v.array(one) });
type Name = Infer<typeof all>["page"][number]["source"] & Infer<typeof some>["some"][number]["source"];
"""
CLIENT = 'declare const seen: FunctionReturnType<typeof api.feed.finished>["page"][number];\n'

# Each with what compiles, and what does not, which differs in one detail.
PAIRS: dict[str, tuple[str, str]] = {
    "a table": (from_('"users"', '"by_name"', "[]"), from_('"user"', '"by_name"', "[]")),
    "an index of the table": (from_('"users"', '"by_name"', "[]"), from_('"notes"', '"by_name"', "[]")),
    "a search index is none": (
        from_('"articles"', '"by_creation_time"', "[]"),
        from_('"articles"', '"search_title"', "[]"),
    ),
    "an ID in the prefix": (from_(AUTHOR, "[userId]"), from_(AUTHOR, "[articleId]")),
    "a prefix of two": (from_(OWN, "[userId, true]"), from_(OWN, "[userId, 1]")),
    "a prefix in the order of the index": (from_(OWN, "[userId, true]"), from_(OWN, "[true, userId]")),
    "a prefix of what is absent": (from_(OWN, "[userId, undefined]"), from_(OWN, "[undefined, true]")),
    "a prefix of what may be absent": (from_(OWN, "[userId, maybe]"), from_(AUTHOR, "[maybe]")),
    "a prefix of nested fields": (from_(RANK, '["en", 5]'), from_(RANK, "[5]")),
    "a prefix of nested fields, further on": (from_(RANK, '["en", 5]'), from_(RANK, '["en", "5"]')),
    "a prefix of all fields": (from_(AUTHOR, "[userId, 5]"), from_(AUTHOR, "[userId, 5, 6]")),
    "a key that is neither a number nor a string": (
        from_(OWN, "[userId, false]"),
        from_(OWN, "[userId]"),
    ),
    "a key that is optional": (from_('"users"', '"by_name"', "[]"), from_('"users"', '"by_joined"', "[]")),
    "a key after one that is optional": (from_('"users"', '"by_joined"', "[5]"), from_('"users"', '"by_joined"', "[]")),
    "a key that only some variants have": (
        from_('"media"', '"by_owner_and_taken"', "[userId]"),
        from_('"media"', '"by_width"', "[]"),
    ),
    "a condition on a document": (
        from_(AUTHOR, "[userId]", "(each) => !each.draft"),
        from_(AUTHOR, "[userId]", "(each) => !each.pinned"),
    ),
    "a condition that is boolean": (
        from_(AUTHOR, "[userId]", "(each) => each.title.length > 5"),
        from_(AUTHOR, "[userId]", "(each) => each.title.length"),
    ),
    "keys that are numbers": (FEED + page("articles", "photos"), FEED + page("articles", "photos", "everyone")),
    "keys that are strings": (
        FEED + page("everyone", f'texts: source({RANK}, ["en", 5])'),
        FEED + page("everyone", f'texts: source({RANK}, ["en"])'),
    ),
    "keys that are creation times": (
        FEED + page("articles", 'all: source("users", "by_creation_time", [])'),
        FEED + page("everyone", 'all: source("users", "by_creation_time", [])'),
    ),
    "the context of a mutation": (
        FEED + "export const found = mergedPage(writing, { articles }, options);",
        FEED + "export const found = mergedPage({}, { articles }, options);",
    ),
    "an order": (
        FEED + 'export const found = mergedPage(ctx, { articles }, { ...options, order: "desc" });',
        FEED + 'export const found = mergedPage(ctx, { articles }, { ...options, order: "down" });',
    ),
    "names of sources": (
        FEED + 'export const is: boolean = item.source === "photos";',
        FEED + 'export const is: boolean = item.source === "media";',
    ),
    "all items": (
        FEED
        + 'export const same: Same<typeof item, { source: "articles"; document: Doc<"articles"> } | '
        + '{ source: "photos"; document: Photo } | { source: "notes"; document: Doc<"notes"> }> = true;',
        FEED
        + 'export const same: Same<typeof item, { source: "articles"; document: Doc<"articles"> } | '
        + '{ source: "photos"; document: Doc<"media"> } | { source: "notes"; document: Doc<"notes"> }> = true;',
    ),
    "an item that is narrowed by its source": (
        FEED + 'export const title: string = item.source === "articles" ? item.document.title : "";',
        FEED + 'export const title: string = item.source === "notes" ? item.document.title : "";',
    ),
    "an item that is not narrowed": (
        FEED + "export const id: string = item.document._id;",
        FEED + "export const id: string = item.document.title;",
    ),
    "an item of a source that is narrowed by a condition": (
        FEED + 'export const width: number = item.source === "photos" ? item.document.width : 0;',
        FEED + 'export const width: number = item.source === "photos" ? item.document.seconds : 0;',
    ),
    "a declared predicate": (narrowed(PREDICATE), narrowed(PREDICATE.replace(": each is Photo", ""))),
    "an inferred predicate": (
        narrowed('(each) => each.kind === "photo"'),
        narrowed('(each) => each.kind === "photo" && each.width > 5'),
    ),
    "no predicate": (
        narrowed("(each) => each.takenAt > 5", 'Doc<"media">'),
        narrowed('(each) => each.kind === "clip"', 'Doc<"media">'),
    ),
    "the rest of a page": (
        FEED + "export const cursor: string = result.continueCursor;",
        FEED + "export const cursor: string = result.isDone;",
    ),
    "a validator of items": (
        ITEM
        + 'export const same: Same<Infer<typeof one>, { source: "articles"; document: Doc<"articles"> } | '
        + '{ source: "mine"; document: Doc<"notes"> }> = true;',
        ITEM
        + 'export const same: Same<Infer<typeof one>, { source: "articles"; document: Doc<"articles"> } | '
        + '{ source: "notes"; document: Doc<"notes"> }> = true;',
    ),
    "a validator of a table that does not exist": (
        'export const one = mergedItem({ articles: "articles" });',
        'export const one = mergedItem({ articles: "article" });',
    ),
    "a validator in others": (
        ITEM + WITHIN + 'export const name: Name = "mine";',
        ITEM + WITHIN + 'export const name: Name = "notes";',
    ),
    "a page fits its validator": (
        FEED
        + 'const one = mergedItem({ articles: "articles", photos: "media", notes: "notes" });\n'
        + "const all = paginationResultValidator(one);\n"
        + "export const fits: Infer<typeof all> = result;",
        FEED
        + 'const one = mergedItem({ articles: "articles", media: "media", notes: "notes" });\n'
        + "const all = paginationResultValidator(one);\n"
        + "export const fits: Infer<typeof all> = result;",
    ),
    "what clients see": (
        CLIENT + 'export const title: string = seen.source === "articles" ? seen.document.title : seen.document.kind;',
        CLIENT + 'export const title: string = seen.source === "photos" ? seen.document.title : "";',
    ),
}
COMPILES = {f"{name}: right": START + right for name, (right, _) in PAIRS.items()}
REFUSED = {f"{name}: wrong": START + wrong for name, (_, wrong) in PAIRS.items()}
BATCH = 10


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_right_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES)[f"{name}: right"] == ()


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_wrong_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert errors_of_wrong(type_checks, f"{name}: wrong") != (), PAIRS[name][1]


def errors_of_wrong(type_checks: TypeChecks, name: str) -> tuple[str, ...]:
    """In batches, and alone if there are none: of a very long output of the compiler, the middle is not told."""
    start = [*REFUSED].index(name) // BATCH * BATCH
    batch = dict([*REFUSED.items()][start : start + BATCH])
    return type_checks.errors(batch)[name] or type_checks.errors({name: REFUSED[name]})[name]
