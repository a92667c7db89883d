"""A factory of the usual functions of a table, validated and typed by the table's definition."""

import json
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Int64, TypeChecks, without

TABLES = ("authors", "books", "members", "media", "tags", "notices")
KINDS = {
    "create": "mutation",
    "read": "query",
    "update": "mutation",
    "replace": "mutation",
    "list": "query",
    "remove": "mutation",
}
TOGETHER = 10  # so many refused snippets are compiled at once: what the compiler says about more might be cut off
HEAD = """\
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { action } from "./_generated/server";
import { tableFunctions } from "./lib/tableFunctions";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Same<A, B> = IsAny<A> extends true ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Own<D> = D extends unknown ? Omit<D, "_id" | "_creationTime"> : never;
type Part<D> = D extends unknown ? Partial<D> : never;
type Image = Extract<Doc<"media">, { kind: "image" }>;
type Video = Extract<Doc<"media">, { kind: "video" }>;
type Embed = Extract<Doc<"media">, { kind: "embed" }>;
type ShownMedium = Omit<Image, "storageKey"> | Omit<Video, "storageKey" | "bucket"> | Embed;
type ShownMember = Omit<Doc<"members">, "passwordHash" | "recoveryCode">;

declare const authorId: Id<"authors">;
declare const bookId: Id<"books">;
declare const memberId: Id<"members">;
declare const mediumId: Id<"media">;
declare const tagId: Id<"tags">;
declare const noticeId: Id<"notices">;
const paginationOpts = { numItems: 5, cursor: null };
"""
BOOK = 'authorId, translatorId: null, title: "t", copies: 1n, status: "draft", ratings: { [memberId]: 5 }'


def same(a: str, b: str) -> str:
    return HEAD + f"export const same: Same<{a}, {b}> = true;\n"


def returned(function: str, expected: str) -> str:
    return same(f"FunctionReturnType<typeof api.{function}>", expected)


def calls(kind: str, function: str, args: str, use: str = "result") -> str:
    """A module that calls a function as any caller does."""
    return HEAD + (
        "export const call = action({\n  args: {},\n  handler: async (ctx): Promise<unknown> => {\n"
        f"    const result = await ctx.run{kind}(api.{function}, {args});\n    return {use};\n  }},\n}});\n"
    )


def made(call: str) -> str:
    return HEAD + f"export const functions = {call};\n"


COMPILES = {
    "create returns an ID": returned("authors.create", 'Id<"authors">'),
    "read returns a document or null": returned("authors.read", 'Doc<"authors"> | null'),
    "update returns a document": returned("books.update", 'Doc<"books">'),
    "replace returns a document": returned("books.replace", 'Doc<"books">'),
    "list returns a page of documents": same('FunctionReturnType<typeof api.tags.list>["page"]', 'Doc<"tags">[]'),
    "list returns a cursor": same('FunctionReturnType<typeof api.tags.list>["continueCursor"]', "string"),
    "remove returns null": returned("media.remove", "null"),
    "a union is returned as a union": returned("notices.read", 'Doc<"notices"> | null'),
    "a union without hidden fields is still a union": returned("media.read", "ShownMedium | null"),
    "update returns a union without hidden fields": returned("media.update", "ShownMedium"),
    "replace returns a union without hidden fields": returned("media.replace", "ShownMedium"),
    "list returns a union without hidden fields": same(
        'FunctionReturnType<typeof api.media.list>["page"][number]', "ShownMedium"
    ),
    "read hides fields": returned("members.read", "ShownMember | null"),
    "update hides fields": returned("members.update", "ShownMember"),
    "list hides fields": same('FunctionReturnType<typeof api.members.list>["page"]', "ShownMember[]"),
    "create takes the fields": same("FunctionArgs<typeof api.books.create>", '{ fields: Own<Doc<"books">> }'),
    "create takes hidden fields": same('FunctionArgs<typeof api.members.create>["fields"]', 'Own<Doc<"members">>'),
    "create takes the fields of a member": same('FunctionArgs<typeof api.media.create>["fields"]', 'Own<Doc<"media">>'),
    "update takes some of the fields": same(
        'FunctionArgs<typeof api.books.update>["changes"]', 'Partial<Own<Doc<"books">>>'
    ),
    "update takes some of the fields of a member": same(
        'FunctionArgs<typeof api.media.update>["changes"]', 'Part<Own<Doc<"media">>>'
    ),
    "optional fields can be cleared": same(
        'NonNullable<FunctionArgs<typeof api.authors.update>["clear"]>[number]', '"born" | "contact"'
    ),
    "hidden fields can be cleared": same(
        'NonNullable<FunctionArgs<typeof api.members.update>["clear"]>[number]', '"favourite" | "recoveryCode"'
    ),
    "fields that are optional in a member can be cleared": same(
        'NonNullable<FunctionArgs<typeof api.media.update>["clear"]>[number]', '"alt" | "captions" | "bucket" | "url"'
    ),
    "a book is created": calls("Mutation", "books.create", f"{{ fields: {{ {BOOK} }} }}"),
    "a book with a subtitle": calls("Mutation", "books.create", f'{{ fields: {{ {BOOK}, subtitle: "s" }} }}'),
    "a video is created": calls(
        "Mutation",
        "media.create",
        '{ fields: { kind: "video", url: "u", seconds: 5, storageKey: "k" } }',
    ),
    "an alarm is created": calls("Mutation", "notices.create", '{ fields: { level: "alarm", text: "t", bookId } }'),
    "an update without clear": calls("Mutation", "authors.update", '{ id: authorId, changes: { name: "n" } }'),
    "an update with clear": calls("Mutation", "authors.update", '{ id: authorId, changes: {}, clear: ["born"] }'),
    "an update of a member's fields": calls(
        "Mutation", "media.update", '{ id: mediumId, changes: { kind: "video", seconds: 5 }, clear: ["captions"] }'
    ),
    "an update of one field of a union": calls("Mutation", "media.update", "{ id: mediumId, changes: { width: 5 } }"),
    "an update of a table without optional fields": calls(
        "Mutation", "tags.update", "{ id: tagId, changes: { weight: 5 } }"
    ),
    "an update of a union without optional fields": calls(
        "Mutation", "notices.update", '{ id: noticeId, changes: { text: "t" } }'
    ),
    "a replacement": calls(
        "Mutation", "tags.replace", '{ id: tagId, fields: { label: "l", weight: 5 } }', "result.label"
    ),
    "a list": calls("Query", "tags.list", "{ paginationOpts }", "result.page[0]?.label"),
    "a list in another order": calls("Query", "tags.list", '{ paginationOpts, order: "desc" }'),
    "a member of a union by its kind": calls(
        "Query", "media.read", "{ id: mediumId }", 'result?.kind === "image" ? result.width.toFixed() : result?.url'
    ),
    "a field that is shown": calls("Query", "members.read", "{ id: memberId }", "result?.email"),
    "another factory": made('tableFunctions("books", { hide: ["ratings"] })'),
    "a factory that hides a field of one member": made('tableFunctions("media", { hide: ["html"] })'),
    "what another factory hides": HEAD
    + 'import type { ApiFromModules } from "convex/server";\n'
    + 'export const functions = tableFunctions("notices", { hide: ["bookId"] });\n'
    + "type Api = ApiFromModules<{ more: typeof functions }>;\n"
    + 'type Notice = FunctionReturnType<Api["more"]["replace"]>;\n'
    + 'type Alarm = Extract<Doc<"notices">, { level: "alarm" }>;\n'
    + 'type Info = Extract<Doc<"notices">, { level: "info" }>;\n'
    + 'export const same: Same<Notice, Info | Omit<Alarm, "bookId">> = true;\n',
}
REFUSED = {
    "an unknown table": made('tableFunctions("book", { hide: ["ratings"] })'),
    "an unknown field to hide": made('tableFunctions("books", { hide: ["rating"] })'),
    "a field of another table to hide": made('tableFunctions("books", { hide: ["email"] })'),
    "a system field to hide": made('tableFunctions("books", { hide: ["_creationTime"] })'),
    "an unknown field of a union to hide": made('tableFunctions("media", { hide: ["htm"] })'),
    "a system field of a union to hide": made('tableFunctions("media", { hide: ["_id"] })'),
    "create without a field": calls(
        "Mutation", "books.create", "{ fields: { " + BOOK.replace('title: "t", ', "") + " } }"
    ),
    "create with an unknown field": calls("Mutation", "books.create", f'{{ fields: {{ {BOOK}, subtitel: "s" }} }}'),
    "create with an ID of another table": calls(
        "Mutation", "books.create", "{ fields: { " + BOOK.replace("authorId,", "authorId: memberId,") + " } }"
    ),
    "create with an unknown literal": calls(
        "Mutation", "books.create", "{ fields: { " + BOOK.replace('"draft"', '"lost"') + " } }"
    ),
    "create with the system fields": calls(
        "Mutation", "books.create", f"{{ fields: {{ {BOOK}, _id: bookId, _creationTime: 5 }} }}"
    ),
    "create without a hidden field": calls("Mutation", "members.create", '{ fields: { email: "e", plan: "free" } }'),
    "a video without its seconds": calls(
        "Mutation", "media.create", '{ fields: { kind: "video", url: "u", storageKey: "k" } }'
    ),
    "a video with the width of an image": calls(
        "Mutation",
        "media.create",
        '{ fields: { kind: "video", url: "u", seconds: 5, width: 5, storageKey: "k" } }',
    ),
    "an info with the book of an alarm": calls(
        "Mutation", "notices.create", '{ fields: { level: "info", text: "t", bookId } }'
    ),
    "an update with a wrong value": calls("Mutation", "authors.update", "{ id: authorId, changes: { name: 5 } }"),
    "an update with an unknown field": calls("Mutation", "authors.update", '{ id: authorId, changes: { nam: "n" } }'),
    "an update with an ID of another table": calls(
        "Mutation", "authors.update", '{ id: bookId, changes: { name: "n" } }'
    ),
    "an update without changes": calls("Mutation", "authors.update", '{ id: authorId, clear: ["born"] }'),
    "an update of the system fields": calls(
        "Mutation", "authors.update", "{ id: authorId, changes: { _creationTime: 5 } }"
    ),
    "an update that mixes members": calls(
        "Mutation", "media.update", '{ id: mediumId, changes: { kind: "video", width: 5 } }'
    ),
    "an update with fields that no member has together": calls(
        "Mutation", "media.update", "{ id: mediumId, changes: { width: 5, seconds: 5 } }"
    ),
    "a required field to clear": calls("Mutation", "authors.update", '{ id: authorId, changes: {}, clear: ["name"] }'),
    "a field that is required in all members to clear": calls(
        "Mutation", "media.update", '{ id: mediumId, changes: { kind: "video", seconds: 5 }, clear: ["seconds"] }'
    ),
    "clear without optional fields": calls(
        "Mutation", "tags.update", "{ id: tagId, changes: { weight: 5 }, clear: [] }"
    ),
    "clear without optional fields in a union": calls(
        "Mutation", "notices.update", '{ id: noticeId, changes: { text: "t" }, clear: [] }'
    ),
    "a replacement without a field": calls(
        "Mutation", "tags.replace", '{ id: tagId, fields: { label: "l" } }', "result.label"
    ),
    "a list without options": calls("Query", "tags.list", "{}", "result.page[0]?.label"),
    "a list in an unknown order": calls("Query", "tags.list", '{ paginationOpts, order: "down" }'),
    "a field of another table in a list": calls("Query", "tags.list", "{ paginationOpts }", "result.page[0]?.title"),
    "read with an ID of another table": calls("Query", "members.read", "{ id: bookId }", "result?.email"),
    "read without an ID": calls("Query", "members.read", "{}", "result?.email"),
    "a document that may be null": calls("Query", "members.read", "{ id: memberId }", "result.email"),
    "a hidden field": calls("Query", "members.read", "{ id: memberId }", "result?.passwordHash"),
    "a hidden field of a member": calls(
        "Query", "media.read", "{ id: mediumId }", 'result?.kind === "image" ? result.storageKey : result?.url'
    ),
    "a field of another member": calls(
        "Query", "media.read", "{ id: mediumId }", 'result?.kind === "video" ? result.width.toFixed() : result?.url'
    ),
    "a removal with an ID of another table": calls("Mutation", "tags.remove", "{ id: authorId }"),
}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    names = list(REFUSED)
    start = names.index(name) // TOGETHER * TOGETHER
    some = {each: REFUSED[each] for each in names[start : start + TOGETHER]}
    assert type_checks.errors(some)[name] != (), f"this compiles:\n{REFUSED[name][len(HEAD) :]}"


AUTHOR = {"name": "Ada", "born": 1815, "contact": {"email": "a@example.com"}, "links": ["x"]}
MEMBER = {"email": "m", "plan": "free", "passwordHash": "secret", "recoveryCode": "code"}
IMAGE = {"kind": "image", "url": "u", "width": 5, "alt": "a", "storageKey": "k"}
VIDEO = {"kind": "video", "url": "u", "seconds": 5, "storageKey": "k", "bucket": "b"}
EMBED = {"kind": "embed", "html": "h", "url": "u"}


def create(project: Deployment, table: str, fields: dict[str, Any]) -> str:
    created: str = project.mutation(f"{table}:create", fields=fields)
    return created


def book(author: str, **fields: Any) -> dict[str, Any]:
    plain = {"authorId": author, "translatorId": None, "title": "t", "copies": Int64(3), "status": "draft"}
    return plain | {"ratings": {}} | fields


def shown(document: dict[str, Any]) -> dict[str, Any]:
    hidden = ("passwordHash", "recoveryCode", "storageKey", "bucket")
    return {name: value for name, value in document.items() if name not in hidden}


def test_there_are_six_public_functions_for_each_table(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {f"{table}:{name}": kind for table in TABLES for name, kind in KINDS.items()}


def plain_union(validator: Any) -> Any:
    """A validator in which it makes no difference how unions are nested and ordered."""
    if isinstance(validator, list):
        return [plain_union(each) for each in validator]
    if not isinstance(validator, dict):
        return validator
    made = {name: plain_union(value) for name, value in validator.items()}
    if made.get("type") != "union":
        return made
    members = [part for each in made["value"] for part in (each["value"] if each["type"] == "union" else [each])]
    unique = {json.dumps(each, sort_keys=True): each for each in members}
    parts = [unique[each] for each in sorted(unique)]
    return parts[0] if len(parts) == 1 else {"type": "union", "value": parts}


@pytest.mark.parametrize("table", TABLES)
def test_arguments_and_results_are_declared_by_the_schema(project: Deployment, answer: Deployment, table: str) -> None:
    received, expected = project.functions(), answer.functions()
    for name in KINDS:
        mine, theirs = received[f"{table}:{name}"], expected[f"{table}:{name}"]
        if name == "list":
            assert set(mine.arguments) == {"paginationOpts", "order"}
            pages = [plain_union(each.returns)["value"]["page"] for each in (mine, theirs)]
            assert pages[0] == pages[1], f"{table}:{name} returns something else"
        else:
            assert plain_union(mine.args) == plain_union(theirs.args), f"{table}:{name} has other arguments"
            assert plain_union(mine.returns) == plain_union(theirs.returns), f"{table}:{name} returns something else"


@pytest.mark.parametrize(
    ("table", "fields"),
    [("authors", AUTHOR), ("members", MEMBER), ("media", IMAGE), ("media", VIDEO), ("media", EMBED)],
    ids=["author", "member", "image", "video", "embed"],
)
def test_what_is_created_can_be_read_and_removed(project: Deployment, table: str, fields: dict[str, Any]) -> None:
    created = create(project, table, fields)
    [stored] = project.documents(table)
    assert without(stored) == fields
    assert project.query(f"{table}:read", id=created) == shown(stored)
    assert project.mutation(f"{table}:remove", id=created) is None
    assert project.documents(table) == []
    assert project.query(f"{table}:read", id=created) is None


def test_an_update_changes_some_fields_and_removes_others(project: Deployment) -> None:
    author = create(project, "authors", AUTHOR)
    updated = project.mutation("authors:update", id=author, changes={"name": "Eva"}, clear=["born"])
    assert without(updated) == {name: AUTHOR[name] for name in ("contact", "links")} | {"name": "Eva"}
    assert project.get(author) == updated
    updated = project.mutation("authors:update", id=author, changes={"contact": {"email": "e"}, "born": 1900})
    assert without(updated) == {"name": "Eva", "contact": {"email": "e"}, "links": ["x"], "born": 1900}
    updated = project.mutation("authors:update", id=author, changes={"born": 5, "links": []}, clear=["born", "contact"])
    assert without(updated) == {"name": "Eva", "links": []}
    assert project.mutation("authors:update", id=author, changes={}) == updated
    assert project.mutation("authors:update", id=author, changes={}, clear=[]) == updated
    assert project.get(author) == updated


def test_a_replacement_has_exactly_the_given_fields(project: Deployment) -> None:
    author = create(project, "authors", AUTHOR)
    [before] = project.documents("authors")
    replaced = project.mutation("authors:replace", id=author, fields={"name": "Eva", "links": []})
    assert replaced == {"name": "Eva", "links": [], "_id": author, "_creationTime": before["_creationTime"]}
    assert project.get(author) == replaced
    medium = create(project, "media", IMAGE)
    assert without(project.mutation("media:replace", id=medium, fields=VIDEO)) == shown(VIDEO)
    assert without(project.get(medium)) == VIDEO


def test_hidden_fields_are_stored_but_never_returned(project: Deployment) -> None:
    member = create(project, "members", MEMBER)
    assert without(project.query("members:read", id=member)) == {"email": "m", "plan": "free"}
    updated = project.mutation("members:update", id=member, changes={"passwordHash": "x"}, clear=["recoveryCode"])
    assert without(updated) == {"email": "m", "plan": "free"}
    assert without(project.get(member)) == {"email": "m", "plan": "free", "passwordHash": "x"}
    assert without(project.mutation("members:replace", id=member, fields=MEMBER)) == {"email": "m", "plan": "free"}
    assert without(project.get(member)) == MEMBER
    for each in (IMAGE, VIDEO, EMBED):
        create(project, "media", each)
    pages = project.pages("media:list", num_items=2)
    assert [without(each) for page in pages for each in page.items] == [shown(each) for each in (IMAGE, VIDEO, EMBED)]


def test_lists_are_paginated_in_both_orders(project: Deployment) -> None:
    for number in range(5):
        create(project, "tags", {"label": str(number), "weight": -number})
    for options, labels in (({}, "01234"), ({"order": "asc"}, "01234"), ({"order": "desc"}, "43210")):
        pages = project.pages("tags:list", num_items=2, **options)
        assert "".join(each["label"] for page in pages for each in page.items) == labels
        assert max(len(page.items) for page in pages) == 2
    with project.fails("ArgumentValidationError"):
        project.query("tags:list", paginationOpts={"numItems": 2, "cursor": None}, order="up")


def test_documents_that_do_not_exist_are_reported(project: Deployment) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("update", {"changes": {}}),
        ("update", {"changes": {"label": "x"}}),
        ("replace", {"fields": {"label": "x", "weight": 1}}),
        ("remove", {}),
    ]
    tag = create(project, "tags", {"label": "l", "weight": 1})
    project.delete("tags", tag)
    for name, args in calls:
        with project.fails(data={"code": "NOT_FOUND", "table": "tags", "id": tag}):
            project.mutation(f"tags:{name}", {"id": tag} | args)
    assert project.documents("tags") == []


def test_ids_of_other_tables_are_rejected(project: Deployment) -> None:
    author, tag = create(project, "authors", AUTHOR), create(project, "tags", {"label": "l", "weight": 1})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("update", {"changes": {}}),
        ("replace", {"fields": {"label": "x", "weight": 1}}),
        ("remove", {}),
    ]
    for name, args in calls:
        for wrong in (author, "x", None):
            with project.fails("ArgumentValidationError"):
                project.mutation(f"tags:{name}", {"id": wrong} | args)
    with project.fails("ArgumentValidationError"):
        project.query("tags:read", id=author)
    with project.fails("ArgumentValidationError"):
        create(project, "books", book(tag))
    assert [each["_id"] for each in project.documents("authors") + project.documents("tags")] == [author, tag]


def test_fields_that_do_not_fit_are_rejected(project: Deployment) -> None:
    author = create(project, "authors", AUTHOR)
    right = book(author)
    wrong = [right | each for each in ({"title": 5}, {"copies": 3}, {"status": "lost"}, {"ratings": {"x": 5}})]
    wrong += [right | {"more": 1}, right | {"translatorId": "x"}, right | {"subtitle": None}]
    wrong += [{name: right[name] for name in right if name != missing} for missing in right]
    for each in [*wrong, {}]:
        with project.fails("ArgumentValidationError"):
            create(project, "books", each)
    assert project.documents("books") == []
    create(project, "books", right | {"subtitle": "s"})
    for each in (IMAGE | {"seconds": 5}, IMAGE | {"kind": "video"}, {"kind": "embed"}, EMBED | {"storageKey": "k"}):
        with project.fails("ArgumentValidationError"):
            create(project, "media", each)


def test_changes_fit_one_member_of_a_union(project: Deployment) -> None:
    image, embed = create(project, "media", IMAGE), create(project, "media", EMBED)
    for wrong in ({"width": 5, "seconds": 5}, {"kind": "video", "width": 5}, {"html": "h", "alt": "a"}, {"more": 1}):
        with project.fails("ArgumentValidationError"):
            project.mutation("media:update", id=image, changes=wrong)
    with project.fails():  # the document would fit no member
        project.mutation("media:update", id=image, changes={"kind": "video", "seconds": 5})
    with project.fails():
        project.mutation("media:update", id=image, changes={}, clear=["url"])
    assert without(project.get(image)) == IMAGE
    assert without(project.mutation("media:update", id=image, changes={"width": 6}, clear=["alt"])) == {
        "kind": "image",
        "url": "u",
        "width": 6,
    }
    updated = project.mutation("media:update", id=embed, changes={"html": "i"}, clear=["url", "captions"])
    assert without(updated) == {"kind": "embed", "html": "i"}


def test_only_optional_fields_can_be_cleared(project: Deployment) -> None:
    author, image = create(project, "authors", AUTHOR), create(project, "media", IMAGE)
    for table, each, wrong in (("authors", author, "name"), ("authors", author, "x"), ("media", image, "width")):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"{table}:update", id=each, changes={}, clear=[wrong])
    tag = create(project, "tags", {"label": "l", "weight": 1})
    notice = create(project, "notices", {"level": "info", "text": "t"})
    for table, each in (("tags", tag), ("notices", notice)):
        with project.fails("ArgumentValidationError"):
            project.mutation(f"{table}:update", id=each, changes={}, clear=[])
        project.mutation(f"{table}:update", id=each, changes={})


@pytest.mark.parametrize("seed", range(2))
def test_any_sequence_of_calls_leaves_the_right_documents(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    truth: dict[str, dict[str, Any]] = {}
    gone: list[str] = []

    def some_fields() -> dict[str, Any]:
        fields = {"email": chance.choice("abc"), "plan": chance.choice(["free", "paid"]), "passwordHash": "p"}
        return fields | ({"recoveryCode": chance.choice("xyz")} if chance.random() < 0.5 else {})

    for step in range(40):
        action = chance.choice(["create", "create", "update", "update", "replace", "remove"])
        if action == "create" or not truth:
            fields = some_fields()
            truth[create(project, "members", fields)] = fields
            continue
        member = chance.choice([*truth, *gone[-1:]])
        args: dict[str, Any] = {"id": member}
        if action == "replace":
            args["fields"] = some_fields()
        if action == "update":
            fields = some_fields()
            args["changes"] = {name: fields[name] for name in chance.sample(list(fields), 2)}
            args |= {"clear": ["recoveryCode"]} if chance.random() < 0.4 else {}
        if member in gone:
            with project.fails(data={"code": "NOT_FOUND", "table": "members", "id": member}):
                project.mutation(f"members:{action}", args)
            continue
        received = project.mutation(f"members:{action}", args)
        if action == "remove":
            del truth[member]
            gone.append(member)
            continue
        after = args.get("fields") or {
            name: value
            for name, value in (truth[member] | args["changes"]).items()
            if name not in args.get("clear", [])
        }
        truth[member] = after
        assert without(received) == shown(after), f"step {step}: {action}"
        assert without(project.get(member)) == after, f"step {step}: {action}"
    stored = {each["_id"]: without(each) for each in project.documents("members")}
    assert stored == truth
    pages = project.pages("members:list", num_items=4, order="desc")
    listed = [each["_id"] for page in pages for each in page.items]
    assert listed == list(reversed(stored))
