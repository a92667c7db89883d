"""Two more kinds of blocks in a document editor: documents, old clients, old rows, and the types of the library."""

# ruff: noqa: E501 (snippets of TypeScript)

import copy
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment, TypeChecks

Data = dict[str, Any]

HEAD = """
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { type Change, type Content, edit, type Kind } from "./lib/content";
import { canConvert, type Converted, convert, type Target, targets } from "./lib/convert";
import { visit, type Visitor, visitSome } from "./lib/visit";
type IsAny<A> = 0 extends 1 & A ? true : false;
type Same<A, B> = IsAny<A> extends true ? false : IsAny<B> extends true ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Span = { text: string; style: "plain" | "bold" | "code" };
type Heading = { kind: "heading"; level: 1 | 2 | 3; text: string };
type Paragraph = { kind: "paragraph"; spans: Span[] };
type OldParagraph = { kind: "paragraph"; text: string };
type Todo = { kind: "todo"; text: string; done: boolean };
type Picture = { kind: "image"; url: string; caption: string | null };
type List = { kind: "list"; ordered: boolean; items: { text: string; done: boolean | null }[] };
type Toggle = { kind: "toggle"; title: string; isOpen: boolean };
type Leaf = { blockId: Id<"blocks">; content: Heading | Paragraph | Todo | Picture | List };
type Branch = { blockId: Id<"blocks">; content: Toggle; children: Leaf[] };
type Changes = { kind: "heading"; level?: 1 | 2 | 3; text?: string } | { kind: "paragraph"; spans?: Span[] } | { kind: "paragraph"; text?: string }
  | { kind: "todo"; text?: string; done?: boolean } | { kind: "image"; url?: string; caption?: string | null }
  | { kind: "list"; ordered?: boolean; items?: { text: string; done: boolean | null }[] } | { kind: "toggle"; title?: string; isOpen?: boolean };
declare const any: Content;
declare const heading: Content<"heading">;
declare const paragraph: Content<"paragraph">;
declare const todo: Content<"todo">;
declare const image: Content<"image">;
declare const list: Content<"list">;
declare const toggle: Content<"toggle">;
declare const textOrTask: Content<"heading" | "todo">;
declare const kind: Kind;
declare const yes: boolean;
const is = <T extends true>(): T | undefined => undefined;
export function use() {
%s
}
export const used = [is, edit, canConvert, convert, targets, visit, visitSome, api];
"""


def same(made: str, expected: str) -> str:
    return f"const made = {made}; return is<Same<typeof made, {expected}>>();"


TABLE = {
    ("heading", "paragraph"): "Paragraph",
    ("heading", "toggle"): "Toggle",
    ("paragraph", "heading"): "Heading",
    ("paragraph", "todo"): "Todo",
    ("paragraph", "list"): "List",
    ("todo", "paragraph"): "Paragraph",
    ("todo", "list"): "List",
    ("image", "paragraph"): "Paragraph | null",
    ("list", "paragraph"): "Paragraph[]",
    ("list", "todo"): "Todo[]",
    ("toggle", "heading"): "Heading",
}
KINDS = ("heading", "paragraph", "todo", "image", "list", "toggle")
TYPES = {
    "heading": "Heading",
    "paragraph": "Paragraph",
    "todo": "Todo",
    "image": "Picture",
    "list": "List",
    "toggle": "Toggle",
}
TARGETS = {each: " | ".join(f'"{to}"' for source, to in TABLE if source == each) for each in KINDS}
ADDED = (
    "{ documentId: Id<'documents'>; content: Heading | Paragraph | OldParagraph | Todo | Picture | List | Toggle; "
    "afterId?: Id<'blocks'> | null; parentId?: Id<'blocks'> }"
)

COMPILES = {
    **{f"content of {each}": f'return is<Same<Content<"{each}">, {TYPES[each]}>>();' for each in KINDS},
    "content of all kinds": "return is<Same<Content, Heading | Paragraph | Todo | Picture | List | Toggle>>() ?? is<Same<Kind, keyof Visitor<number>>>();",
    **{f"{a} to {b}": same(f'convert({a}, "{b}")', result) for (a, b), result in TABLE.items()},
    **{
        f"type of {a} to {b}": f'return is<Same<Converted<"{a}", "{b}">, {result}>>();'
        for (a, b), result in TABLE.items()
    },
    **{f"targets of {each}": f'return is<Same<Target<"{each}">, {TARGETS[each]}>>();' for each in KINDS},
    **{
        f"array of targets of {each}": f'const [made] = targets("{each}"); return is<Same<typeof made, {TARGETS[each]} | undefined>>();'
        for each in KINDS
    },
    "literal to toggle": same('convert({ kind: "heading", level: 1, text: "a" }, "toggle")', "Toggle"),
    "one of two kinds": same('convert(textOrTask, "paragraph")', "Paragraph"),
    "one of two kinds with different results": same(
        'convert(yes ? list : image, "paragraph")', "Paragraph | Paragraph[] | null"
    ),
    "targets of two kinds": 'return is<Same<Target<"heading" | "todo">, "paragraph">>() ?? is<Same<Target<"toggle" | "list">, never>>() ?? is<Same<Target<Kind>, never>>();',
    "results of two kinds": 'return is<Same<Converted<"list" | "paragraph", "todo">, Todo | Todo[]>>();',
    "one of two targets": same('convert(heading, yes ? "paragraph" : "toggle")', "Paragraph | Toggle"),
    "results of two targets": 'return is<Same<Converted<"list", "paragraph" | "todo">, Paragraph[] | Todo[]>>();',
    "what can be converted": 'return canConvert(any, "todo") ? is<Same<typeof any, Paragraph | List>>() : is<Same<typeof any, Heading | Todo | Picture | Toggle>>();',
    "what can be converted of some": 'return canConvert(textOrTask, "toggle") ? is<Same<typeof textOrTask, Heading>>() : is<Same<typeof textOrTask, Todo>>();',
    "converting what can be": 'if (canConvert(any, "list")) { const made = convert(any, "list"); return is<Same<typeof made, List>>(); } return any;',
    "targets of any kind": 'const [made] = targets(kind); return is<Same<typeof made, "heading" | "paragraph" | "todo" | "list" | "toggle" | undefined>>();',
    "converting after the question": 'if (!canConvert(any, "heading")) return; const made = convert(any, "heading"); return is<Same<typeof made, Heading>>();',
    "asking for images": 'return canConvert(any, "image");',
    "some cases": same(
        "visitSome(any, { todo: ({ done }) => done, list: ({ items }) => items.length, image: () => undefined }, (rest) => rest)",
        "boolean | number | undefined | Heading | Paragraph | Toggle",
    ),
    "no cases": same("visitSome(any, {}, (rest) => rest.kind)", "Kind"),
    "all cases": same(
        'visitSome(any, { heading: () => 1, paragraph: () => 1, todo: () => 1, image: () => 1, list: () => 1, toggle: () => "a" }, (rest) => is<Same<typeof rest, never>>())',
        "number | string | true | undefined",
    ),
    "literals from cases": same('visitSome(any, { todo: () => "task" as const }, () => null)', '"task" | null'),
    "cases of some content": same(
        "visitSome(textOrTask, { todo: (content) => content, heading: ({ level }) => level }, () => null)",
        "Todo | 1 | 2 | 3 | null",
    ),
    "cases elsewhere": 'const cases = { list: (content: Content<"list">) => content.ordered }; '
    + same("visitSome(any, cases, () => 0)", "boolean | number"),
    "visit": same(
        "visit(any, { heading: ({ level }) => level, paragraph: ({ spans }) => spans.length, todo: () => 0, image: () => 0, list: ({ items }) => items.length, toggle: () => 5 })",
        "number",
    ),
    "edit": same('edit(list, { kind: "list", ordered: true })', "List"),
    "edit of any kind": "return <K extends Kind>(content: Content<K>, change: Change<K>): Content<K> => edit(content, change);",
    "changes": 'return is<Same<Change<"list">["kind"], "list">>() ?? [{ kind: "toggle" }, { kind: "paragraph", spans: [{ text: "a", style: "bold" }] }] satisfies Change[];',
    "arguments of add": f"return is<Same<FunctionArgs<typeof api.blocks.add>, {ADDED}>>();",
    "arguments of update": 'return is<Same<FunctionArgs<typeof api.blocks.update>, { blockId: Id<"blocks">; change: Changes }>>();',
    "arguments of move": 'return is<Same<FunctionArgs<typeof api.blocks.move>, { blockId: Id<"blocks">; afterId: Id<"blocks"> | null; parentId?: Id<"blocks"> }>>();',
    "arguments of convert": 'return is<Same<FunctionArgs<typeof api.blocks.convert>, { blockId: Id<"blocks">; to: "heading" | "paragraph" | "todo" | "list" | "toggle" }>>();',
    "result of convert": 'return is<Same<FunctionReturnType<typeof api.blocks.convert>, Id<"blocks">[]>>();',
    "result of read": "return is<Same<FunctionReturnType<typeof api.documents.read>, { title: string; blocks: (Leaf | Branch)[] } | null>>();",
    "result of show": 'return is<Same<FunctionReturnType<typeof api.documents.show>, { title: string; blocks: { blockId: Id<"blocks">; content: Heading | OldParagraph | Todo | Picture }[] } | null>>();',
    "result of stats": "return is<Same<FunctionReturnType<typeof api.documents.stats>, { words: number; kinds: { [K in Kind]: number } }>>();",
}
REFUSED = {
    **{
        f"{a} to {b}, which is impossible": f'return convert({a}, "{b}");'
        for a in KINDS
        for b in KINDS
        if (a, b) not in TABLE
    },
    "a target that only one of two kinds has": 'return convert(textOrTask, "toggle");',
    "any content to a paragraph": 'return convert(any, "paragraph");',
    "an unknown target": 'return convert(heading, "table");',
    "asking for an unknown target": 'return canConvert(any, "table");',
    "a target of which one is impossible": 'return convert(heading, yes ? "paragraph" : "todo");',
    "the result of another target": 'return convert(list, "todo").text;',
    "a result that may be null": 'return convert(image, "paragraph").spans;',
    "a wrong literal": 'return convert({ kind: "heading", level: 4, text: "a" }, "toggle");',
    "the type of an impossible result": 'return is<Same<Converted<"toggle", "list">, List>>();',
    "targets of an unknown kind": 'return targets("table");',
    "a case of an unknown kind": "return visitSome(any, { todo: () => 1, table: () => 1 }, () => 1);",
    "a case with another kind's field": "return visitSome(any, { todo: ({ items }) => items }, () => 1);",
    "the rest has a case": 'return visitSome(any, { todo: () => 1, list: () => 1 }, (rest) => rest.kind === "list");',
    "the rest is not of one kind": "return visitSome(any, { todo: () => 1, list: () => 1, toggle: () => 1, image: () => 1 }, (rest) => rest.spans);",
    "the result of some cases": "return visitSome(any, { todo: () => 1 }, () => null).toFixed();",
    "visit without a new kind": "return visit(any, { heading: () => 1, paragraph: () => 1, todo: () => 1, image: () => 1, list: () => 1 });",
    "visit with the old field": "return visit(any, { heading: () => '', paragraph: ({ text }) => text, todo: () => '', image: () => '', list: () => '', toggle: () => '' });",
    "edit with another kind's field": 'return edit(list, { kind: "list", isOpen: true });',
    "edit with undefined": 'return edit(list, { kind: "list", ordered: undefined });',
    "a toggle in a toggle": 'const branch: Branch = { blockId: "" as Id<"blocks">, content: toggle, children: [] }; type Block = NonNullable<FunctionReturnType<typeof api.documents.read>>["blocks"][number]; const block: Block = { ...branch, children: [branch] }; return block;',
}
SNIPPETS = {name: HEAD % body for name, body in (COMPILES | REFUSED).items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] != ()


# Documents, as a list of blocks: what is expected of them, and of what the functions do with them.


@dataclass
class Block:
    id: str
    content: Data
    children: list["Block"] = field(default_factory=list)


def plain(text: str) -> Data:
    return {"kind": "paragraph", "spans": [{"text": text, "style": "plain"}]}


def heading(text: str, level: int = 1) -> Data:
    return {"kind": "heading", "level": level, "text": text}


def todo(text: str, done: bool = False) -> Data:
    return {"kind": "todo", "text": text, "done": done}


def picture(caption: str | None = None) -> Data:
    return {"kind": "image", "url": "https://x.example/a.png", "caption": caption}


def bullets(*items: tuple[str, bool | None], ordered: bool = False) -> Data:
    return {"kind": "list", "ordered": ordered, "items": [{"text": text, "done": done} for text, done in items]}


def toggle(title: str, is_open: bool = True) -> Data:
    return {"kind": "toggle", "title": title, "isOpen": is_open}


def joined(content: Data) -> str:
    return "".join(span["text"] for span in content["spans"])


def flat(blocks: list[Block]) -> list[Block]:
    return [each for block in blocks for each in (block, *block.children)]


def markdown(content: Data) -> str:
    match content["kind"]:
        case "heading":
            return f"{'#' * content['level']} {content['text']}"
        case "paragraph":
            marks = {"plain": "", "bold": "**", "code": "`"}
            return "".join(marks[span["style"]] + span["text"] + marks[span["style"]] for span in content["spans"])
        case "todo":
            return f"- [{'x' if content['done'] else ' '}] {content['text']}"
        case "image":
            return f"![{content['caption'] or ''}]({content['url']})"
        case "list":
            boxes = {None: "", True: "[x] ", False: "[ ] "}
            return "\n".join(
                f"{f'{number}.' if content['ordered'] else '-'} {boxes[item['done']]}{item['text']}"
                for number, item in enumerate(content["items"], 1)
            )
        case _:
            return f"### {content['title']}"


def text(content: Data) -> str:
    match content["kind"]:
        case "paragraph":
            return joined(content)
        case "image":
            return str(content["caption"] or "")
        case "list":
            return " ".join(item["text"] for item in content["items"])
        case "toggle":
            return str(content["title"])
        case _:
            return str(content["text"])


def old(content: Data) -> Data:
    match content["kind"]:
        case "paragraph":
            return {"kind": "paragraph", "text": joined(content)}
        case "list":
            return {"kind": "paragraph", "text": markdown(content)}
        case "toggle":
            return heading(content["title"], 3)
        case _:
            return content


def sent(content: Data) -> Data:
    """As it is stored after a client has sent it."""
    return plain(content["text"]) if content["kind"] == "paragraph" and "text" in content else content


def converted(content: Data, to: str) -> list[Data] | None:
    match content["kind"], to:
        case ("heading" | "todo", "paragraph"):
            return [plain(content["text"])]
        case "heading", "toggle":
            return [toggle(content["text"])]
        case "paragraph", "heading":
            return [heading(joined(content), 2)]
        case "paragraph", "todo":
            return [todo(joined(content))]
        case "paragraph", "list":
            return [bullets((joined(content), None))]
        case "todo", "list":
            return [bullets((content["text"], content["done"]))]
        case "image", "paragraph":
            return None if content["caption"] is None else [plain(content["caption"])]
        case "list", "paragraph":
            return [plain(item["text"]) for item in content["items"]]
        case "list", "todo":
            return [todo(item["text"], item["done"] is True) for item in content["items"]]
        case "toggle", "heading":
            return [heading(content["title"], 3)]
        case _:
            return None


def shown(blocks: list[Block]) -> list[Data]:
    return [{"blockId": each.id, "content": old(each.content)} for each in flat(blocks)]


def tree(blocks: list[Block]) -> list[Data]:
    return [
        {"blockId": block.id, "content": block.content}
        | ({"children": tree(block.children)} if block.content["kind"] == "toggle" else {})
        for block in blocks
    ]


def check(project: Deployment, document: str, blocks: list[Block], after: Any = "") -> None:
    """All that the functions say about a document with the title `a`."""
    contents = [each.content for each in flat(blocks)]
    assert project.query("documents:read", documentId=document) == {"title": "a", "blocks": tree(blocks)}, after
    assert project.query("documents:show", documentId=document) == {"title": "a", "blocks": shown(blocks)}, after
    assert project.query("documents:markdown", documentId=document) == "\n\n".join(map(markdown, contents)), after
    kinds = Counter(content["kind"] for content in contents)
    words = sum(len(text(content).split()) for content in contents)
    expected = {"words": words, "kinds": {kind: kinds[kind] for kind in KINDS}}
    assert project.query("documents:stats", documentId=document) == expected, after
    assert project.query("documents:outline", documentId=document) == [
        {"blockId": each.id, "level": each.content["level"], "text": each.content["text"]}
        for each in flat(blocks)
        if each.content["kind"] == "heading"
    ], after


def new_document(project: Deployment) -> str:
    return str(project.mutation("documents:create", title="a"))


def add(project: Deployment, document: str, content: Data, **where: Any) -> Block:
    block = project.mutation("blocks:add", {"documentId": document, "content": content, **where})
    return Block(block, sent(content))


SAMPLES = [
    heading("One two", 2),
    plain("three"),
    {"kind": "paragraph", "spans": []},
    {"kind": "paragraph", "spans": [{"text": "fo", "style": "bold"}, {"text": "ur ", "style": "plain"}, {"text": "x = 5", "style": "code"}]},
    todo("six", True),
    picture("seven  eight"),
    picture(),
    bullets(),
    bullets(("nine ten", None), ("eleven", True), ("twelve", False)),
    bullets(("a", None), ("b", True), ordered=True),
    toggle("thirteen 14", False),
]  # fmt: skip


def test_contents_of_all_kinds(project: Deployment) -> None:
    document = new_document(project)
    blocks = [add(project, document, content) for content in SAMPLES]
    check(project, document, blocks)


def test_contents_in_toggles(project: Deployment) -> None:
    document = new_document(project)
    first = add(project, document, toggle("first"))
    last = add(project, document, heading("last"))
    first.children = [
        add(project, document, content, parentId=first.id) for content in SAMPLES if content["kind"] != "toggle"
    ]
    check(project, document, [first, last])
    second = add(project, document, toggle("second"), afterId=first.id)
    second.children = [add(project, document, todo("b"), parentId=second.id, afterId=None)]
    second.children.insert(0, add(project, document, plain("a"), parentId=second.id, afterId=None))
    second.children.insert(1, add(project, document, plain("c"), parentId=second.id, afterId=second.children[0].id))
    second.children.append(add(project, document, plain("d"), afterId=second.children[-1].id))
    check(project, document, [first, second, last])


def test_a_document_that_is_not_there(project: Deployment) -> None:
    document = new_document(project)
    block = add(project, document, heading("a"))
    check(project, document, [block])
    project.delete("documents", document)
    assert project.query("documents:read", documentId=document) is None
    assert project.query("documents:show", documentId=document) is None
    with project.fails(data={"code": "NOT_FOUND"}):
        project.mutation("blocks:add", documentId=document, content=heading("b"))


def test_documents_do_not_mix(project: Deployment) -> None:
    one, two = new_document(project), new_document(project)
    first = [add(project, one, toggle("a"))]
    first[0].children = [add(project, one, plain("b"), parentId=first[0].id)]
    second = [add(project, two, heading("c"))]
    check(project, one, first)
    check(project, two, second)


def test_old_clients_add_and_update_paragraphs_with_a_text(project: Deployment) -> None:
    document = new_document(project)
    block = add(project, document, {"kind": "paragraph", "text": "one two"})
    check(project, document, [block])
    for change, content in (
        ({"text": "three"}, plain("three")),
        ({}, plain("three")),
        ({"spans": SAMPLES[3]["spans"]}, SAMPLES[3]),
        ({}, SAMPLES[3]),
        ({"text": ""}, plain("")),
        ({"spans": []}, SAMPLES[2]),
    ):
        project.mutation("blocks:update", blockId=block.id, change={"kind": "paragraph"} | change)
        block.content = content
        check(project, document, [block], change)
    assert all("text" not in row for row in project.documents("blocks"))


@pytest.mark.parametrize(
    ("content", "change"),
    [
        (heading("a"), {"level": 3}),
        (heading("a"), {"text": "b", "level": 2}),
        (todo("a"), {"done": True}),
        (picture("a"), {"caption": None}),
        (picture("a"), {"url": "b"}),
        (bullets(("a", None)), {"ordered": True}),
        (bullets(("a", None)), {"items": [{"text": "b", "done": False}]}),
        (toggle("a"), {"isOpen": False}),
        (toggle("a"), {"title": "b"}),
    ],
)
def test_changes(project: Deployment, content: Data, change: Data) -> None:
    document = new_document(project)
    block, other = add(project, document, content), add(project, document, content)
    project.mutation("blocks:update", blockId=block.id, change={"kind": content["kind"]} | change)
    block.content = content | change
    check(project, document, [block, other])
    project.mutation("blocks:update", blockId=block.id, change={"kind": content["kind"]})
    check(project, document, [block, other])


def test_a_change_keeps_a_block_in_its_toggle(project: Deployment) -> None:
    document = new_document(project)
    section = add(project, document, toggle("a"))
    section.children = [add(project, document, todo(text), parentId=section.id) for text in "bc"]
    project.mutation("blocks:update", blockId=section.children[0].id, change={"kind": "todo", "done": True})
    section.children[0].content["done"] = True
    project.mutation("blocks:update", blockId=section.id, change={"kind": "toggle", "isOpen": False})
    section.content["isOpen"] = False
    check(project, document, [section])


def test_the_kind_of_a_block_cannot_be_changed(project: Deployment) -> None:
    document = new_document(project)
    blocks = [add(project, document, content) for content in (bullets(), toggle("a"), plain("b"), heading("c"))]
    for block in blocks:
        for other in blocks:
            if other is not block:
                with project.fails(data={"code": "WRONG_KIND"}):
                    project.mutation("blocks:update", blockId=block.id, change={"kind": other.content["kind"]})
    with project.fails(data={"code": "WRONG_KIND"}):
        project.mutation("blocks:update", blockId=blocks[0].id, change={"kind": "paragraph", "text": "- a"})
    check(project, document, blocks)


def test_where_blocks_can_be(project: Deployment) -> None:
    document, elsewhere = new_document(project), new_document(project)
    section, other, loose = (add(project, document, content) for content in (toggle("a"), toggle("b"), todo("c")))
    section.children = [add(project, document, plain("d"), parentId=section.id)]
    child = section.children[0]
    far, gone = add(project, elsewhere, toggle("e")), add(project, elsewhere, toggle("f"))
    near_far = add(project, elsewhere, todo("g"))
    project.mutation("blocks:remove", blockId=gone.id)
    cases: list[tuple[str, Data, Data]] = [
        ("NOT_FOUND", todo("x"), {"parentId": far.id}),
        ("NOT_FOUND", todo("x"), {"parentId": gone.id}),
        ("NOT_FOUND", todo("x"), {"afterId": near_far.id}),
        ("NOT_FOUND", todo("x"), {"afterId": gone.id}),
        ("NOT_FOUND", todo("x"), {"afterId": near_far.id, "parentId": loose.id}),
        ("NOT_FOUND", toggle("x"), {"afterId": child.id, "parentId": far.id}),
        ("WRONG_PARENT", todo("x"), {"parentId": loose.id}),
        ("WRONG_PARENT", todo("x"), {"parentId": child.id, "afterId": None}),
        ("WRONG_PARENT", todo("x"), {"parentId": section.id, "afterId": loose.id}),
        ("WRONG_PARENT", todo("x"), {"parentId": other.id, "afterId": child.id}),
        ("WRONG_PARENT", todo("x"), {"parentId": section.id, "afterId": section.id}),
        ("WRONG_PARENT", toggle("x"), {"parentId": section.id}),
        ("WRONG_PARENT", toggle("x"), {"afterId": child.id}),
    ]
    for code, content, where in cases:
        with project.fails(data={"code": code}):
            project.mutation("blocks:add", {"documentId": document, "content": content, **where})
        if "afterId" in where:
            moved = other if content["kind"] == "toggle" else add(project, document, content)
            with project.fails(data={"code": code}):
                project.mutation("blocks:move", {"blockId": moved.id, **where})
            if moved is not other:
                project.mutation("blocks:remove", blockId=moved.id)
    for where in ({"afterId": child.id}, {"afterId": None, "parentId": section.id}):
        with project.fails(data={"code": "WRONG_PARENT"}):
            project.mutation("blocks:move", {"blockId": section.id, **where})
    check(project, document, [section, other, loose])


def test_moves(project: Deployment) -> None:
    document = new_document(project)
    section, a, b = (add(project, document, content) for content in (toggle("s"), todo("a"), todo("b")))
    section.children = [c, d] = [add(project, document, todo(name), parentId=section.id) for name in "cd"]

    def move(block: Block, after: Block | None, parent: Block | None = None) -> None:
        where = {"parentId": parent.id} if parent else {}
        moving = {"blockId": block.id, "afterId": after and after.id, **where}
        assert project.mutation("blocks:move", moving) is None

    move(a, c)
    section.children = [c, a, d]
    check(project, document, [section, b], "behind a block in a toggle")
    move(b, None, section)
    section.children = [b, c, a, d]
    check(project, document, [section], "to the beginning of a toggle")
    move(c, None)
    section.children = [b, a, d]
    check(project, document, [c, section], "to the beginning of the document")
    move(d, section)
    section.children = [b, a]
    check(project, document, [c, section, d], "behind a toggle")
    move(section, d)
    check(project, document, [c, d, section], "a toggle with its children")
    move(b, a, section)
    section.children = [a, b]
    check(project, document, [c, d, section], "within a toggle")
    move(a, a)
    move(d, d)
    check(project, document, [c, d, section], "behind itself")
    move(section, None)
    check(project, document, [section, c, d], "a toggle to the beginning")


def test_a_toggle_is_removed_with_its_children(project: Deployment) -> None:
    document = new_document(project)
    blocks = [add(project, document, toggle(name)) for name in "ab"]
    for block in blocks:
        block.children = [add(project, document, plain(name), parentId=block.id) for name in "cd"]
    project.mutation("blocks:remove", blockId=blocks[1].children.pop(0).id)
    check(project, document, blocks)
    assert project.mutation("blocks:remove", blockId=blocks[0].id) is None
    check(project, document, blocks[1:])
    assert len(project.documents("blocks")) == 2


CONVERTED = [
    *SAMPLES,
    {"kind": "paragraph", "text": "old"},
    todo("open"),
    bullets(("only", True)),
]


@pytest.mark.parametrize("to", ["heading", "paragraph", "todo", "list", "toggle"])
def test_conversions(project: Deployment, to: str) -> None:
    for content in CONVERTED:
        document = new_document(project)
        before, block, after = (add(project, document, each) for each in (plain("before"), content, todo("after")))
        results = converted(block.content, to)
        if results is None:
            with project.fails(data={"code": "NOT_POSSIBLE"}):
                project.mutation("blocks:convert", blockId=block.id, to=to)
            check(project, document, [before, block, after], content)
            continue
        ids = project.mutation("blocks:convert", blockId=block.id, to=to)
        assert len(ids) == len(results), content
        assert ids[:1] == ([block.id] if results else []), content
        made = [Block(*each) for each in zip(ids, results, strict=True)]
        check(project, document, [before, *made, after], content)


def test_conversions_in_toggles(project: Deployment) -> None:
    document = new_document(project)
    section, after = add(project, document, toggle("s")), add(project, document, todo("after"))
    many = add(project, document, bullets(("a", None), ("b", True), ("c", False)), parentId=section.id)
    head = add(project, document, heading("h"), parentId=section.id)
    section.children = [many, head]
    with project.fails(data={"code": "WRONG_PARENT"}):
        project.mutation("blocks:convert", blockId=head.id, to="toggle")
    check(project, document, [section, after])
    ids = project.mutation("blocks:convert", blockId=many.id, to="todo")
    made = [Block(ids[0], todo("a")), Block(ids[1], todo("b", True)), Block(ids[2], todo("c"))]
    section.children = [*made, head]
    check(project, document, [section, after])
    assert project.mutation("blocks:convert", blockId=section.id, to="heading") == [section.id]
    section = Block(section.id, heading("s", 3))
    check(project, document, [section, *made, head, after])
    with project.fails(data={"code": "NOT_POSSIBLE"}):
        project.mutation("blocks:convert", blockId=head.id, to="todo")
    project.mutation("blocks:remove", blockId=head.id)
    with project.fails(data={"code": "NOT_FOUND"}):
        project.mutation("blocks:convert", blockId=head.id, to="todo")
    check(project, document, [section, *made, after])


@dataclass
class Editor:
    """Somebody who changes a document at random, and knows what becomes of it."""

    project: Deployment
    document: str
    chance: random.Random
    blocks: list[Block] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def line(self, block: Block) -> list[Block]:
        """The block and its siblings."""
        return next((each.children for each in self.blocks if block in each.children), self.blocks)

    def any_parent(self) -> Block | None:
        toggles = [each for each in self.blocks if each.content["kind"] == "toggle"]
        return self.chance.choice([None, *toggles])

    def put(self, block: Block, after: Block | None, parent: Block | None, is_end: bool) -> None:
        line = self.line(after) if after else parent.children if parent else self.blocks
        line.insert(line.index(after) + 1 if after else len(line) if is_end else 0, block)

    def add(self, some: Block | None) -> None:
        content = copy.deepcopy(self.chance.choice([*CONVERTED, toggle("x"), toggle("y")]))
        is_end, parent = self.chance.random() < 0.4, self.any_parent()
        after = None if is_end or parent else self.chance.choice([None, some])
        if content["kind"] == "toggle":
            parent, after = None, after if after in self.blocks else None
        where: Data = {} if is_end else {"afterId": after and after.id}
        where |= {"parentId": parent.id} if parent else {}
        self.done.append(f"add {content} {where}")
        self.put(add(self.project, self.document, content, **where), after, parent, is_end)

    def move(self, some: Block) -> None:
        after = self.chance.choice([None, *(each for each in flat(self.blocks) if each is not some)])
        parent = None if after else self.any_parent()
        if some.content["kind"] == "toggle":
            parent, after = None, after if after in self.blocks else None
        where: Data = {"afterId": after and after.id} | ({"parentId": parent.id} if parent else {})
        self.done.append(f"move {some.id} {where}")
        self.project.mutation("blocks:move", blockId=some.id, **where)
        self.line(some).remove(some)
        self.put(some, after, parent, is_end=False)

    def convert(self, some: Block) -> None:
        to = self.chance.choice(["heading", "paragraph", "todo", "list", "toggle"])
        results = converted(some.content, to)
        self.done.append(f"convert {some.id} {to}")
        if results is None or (to == "toggle" and some not in self.blocks):
            with self.project.fails(data={"code": "NOT_POSSIBLE" if results is None else "WRONG_PARENT"}):
                self.project.mutation("blocks:convert", blockId=some.id, to=to)
            return
        ids = self.project.mutation("blocks:convert", blockId=some.id, to=to)
        line = self.line(some)
        place = line.index(some)
        line[place : place + 1] = [*(Block(*each) for each in zip(ids, results, strict=True)), *some.children]

    def update(self, some: Block) -> None:
        has_text = "text" in some.content or "spans" in some.content
        change: Data = {"kind": some.content["kind"]} | ({"text": "new"} if has_text else {})
        self.done.append(f"update {some.id} {change}")
        self.project.mutation("blocks:update", blockId=some.id, change=change)
        some.content = plain("new") if "spans" in some.content else some.content | change

    def remove(self, some: Block) -> None:
        self.done.append(f"remove {some.id}")
        self.project.mutation("blocks:remove", blockId=some.id)
        self.line(some).remove(some)


@pytest.mark.parametrize("seed", range(4))
def test_random_operations(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    editor = Editor(project, new_document(project), chance)
    steps = [*(editor.move, editor.move), *(editor.convert, editor.convert), editor.update, editor.remove]
    for _ in range(40):
        every = flat(editor.blocks)
        some = chance.choice(every) if every else None
        if some is None or chance.random() < 0.4:
            editor.add(some)
        else:
            chance.choice(steps)(some)
        received = project.query("documents:read", documentId=editor.document)
        assert received["blocks"] == tree(editor.blocks), f"after {editor.done}"
    check(project, editor.document, editor.blocks, f"after {editor.done}")


# Documents of the given code.

OLD = [heading("One two"), {"kind": "paragraph", "text": "three four"}, todo("five", True), picture("six"), {"kind": "paragraph", "text": ""}]  # fmt: skip


def test_old_documents_are_what_they_were(given: GivenDeployment) -> None:
    document = given.mutation("documents:create", title="a")
    ids = [given.mutation("blocks:add", documentId=document, content=content) for content in OLD]
    given.mutation("blocks:move", blockId=ids[-1], afterId=ids[0])
    names = ("show", "markdown", "outline")
    before = [given.query(f"documents:{name}", documentId=document) for name in names]
    stored = given.documents("blocks")
    project = given.upgrade()
    assert project.documents("blocks") == stored
    assert [project.query(f"documents:{name}", documentId=document) for name in names] == before
    blocks = [Block(id, sent(content)) for id, content in zip(ids, OLD, strict=True)]
    blocks.insert(1, blocks.pop())
    check(project, document, blocks)


def test_old_paragraphs_get_spans_when_they_are_updated(given: GivenDeployment) -> None:
    document = given.mutation("documents:create", title="a")
    contents = [{"kind": "paragraph", "text": text} for text in ("one", "two", "three", "four", "five")]
    ids = [given.mutation("blocks:add", documentId=document, content=content) for content in contents]
    project = given.upgrade()
    blocks = [Block(id, sent(content)) for id, content in zip(ids, contents, strict=True)]

    def texts() -> list[str | None]:
        rows = {row["_id"]: row for row in project.documents("blocks")}
        return [rows[id].get("text") for id in ids]

    section = add(project, document, toggle("s"))
    project.mutation("blocks:move", blockId=ids[0], afterId=ids[1])
    project.mutation("blocks:move", blockId=ids[2], afterId=None, parentId=section.id)
    section.children = [blocks[2]]
    now = [blocks[1], blocks[0], blocks[3], blocks[4], section]
    check(project, document, now)
    assert texts() == ["one", "two", "three", "four", "five"]
    project.mutation("blocks:update", blockId=ids[0], change={"kind": "paragraph"})
    project.mutation("blocks:update", blockId=ids[1], change={"kind": "paragraph", "text": "2"})
    project.mutation("blocks:update", blockId=ids[2], change={"kind": "paragraph", "spans": SAMPLES[3]["spans"]})
    blocks[1].content, blocks[2].content = plain("2"), SAMPLES[3]
    check(project, document, now)
    assert texts() == [None, None, None, "four", "five"]
    assert [row["spans"] for row in project.documents("blocks") if row["_id"] == ids[0]] == [plain("one")["spans"]]
    made = project.mutation("blocks:convert", blockId=ids[3], to="list")
    assert made == [ids[3]]
    blocks[3].content = bullets(("four", None))
    check(project, document, now)
    assert texts()[4] == "five"


# What is refused.

WRONG_CONTENTS: list[Any] = [
    "a",
    {},
    {"kind": "table"},
    {"kind": "paragraph"},
    {"kind": "paragraph", "text": "a", "spans": []},
    {"kind": "paragraph", "spans": "a"},
    {"kind": "paragraph", "spans": [{"text": "a"}]},
    {"kind": "paragraph", "spans": [{"text": "a", "style": "italic"}]},
    {"kind": "paragraph", "spans": [{"text": 5, "style": "bold"}]},
    {"kind": "list", "ordered": True},
    {"kind": "list", "items": []},
    {"kind": "list", "ordered": None, "items": []},
    {"kind": "list", "ordered": True, "items": [{"text": "a"}]},
    {"kind": "list", "ordered": True, "items": [{"text": "a", "done": "x"}]},
    {"kind": "list", "ordered": True, "items": [{"text": None, "done": None}]},
    {"kind": "toggle", "title": "a"},
    {"kind": "toggle", "isOpen": True},
    {"kind": "toggle", "title": "a", "isOpen": 1},
    {"kind": "toggle", "title": "a", "isOpen": True, "children": []},
    {"kind": "toggle", "text": "a", "isOpen": True},
    {"kind": "heading", "level": 4, "text": "a"},
    {"kind": "todo", "text": "a", "done": None},
    {"kind": "image", "url": "a"},
]


def test_wrong_contents_are_refused(project: Deployment) -> None:
    document = new_document(project)
    for content in WRONG_CONTENTS:
        with project.fails("ArgumentValidationError"):
            pytest.fail(f"accepted {content}: {project.mutation('blocks:add', documentId=document, content=content)}")


def test_wrong_changes_are_refused(project: Deployment) -> None:
    document = new_document(project)
    blocks = {kind: add(project, document, content) for kind, content in zip(KINDS, [SAMPLES[0], plain("a"), todo("b"), picture(), bullets(), toggle("c")], strict=True)}  # fmt: skip
    for change in (
        {"kind": "paragraph", "text": "a", "spans": []},
        {"kind": "paragraph", "text": None},
        {"kind": "paragraph", "spans": [{"text": "a", "style": "big"}]},
        {"kind": "list", "items": [{"text": "a"}]},
        {"kind": "list", "ordered": "no"},
        {"kind": "list", "title": "a"},
        {"kind": "toggle", "isOpen": None},
        {"kind": "toggle", "text": "a"},
        {"kind": "toggle", "title": 5},
        {"kind": "todo", "spans": []},
        {"kind": "heading", "level": 0},
    ):
        with project.fails("ArgumentValidationError"):
            made = project.mutation("blocks:update", blockId=blocks[str(change["kind"])].id, change=change)
            pytest.fail(f"accepted {change}: {made}")


def test_other_wrong_arguments_are_refused(project: Deployment) -> None:
    document = new_document(project)
    block, other = add(project, document, todo("a")), add(project, document, todo("b"))
    cases: list[tuple[str, Data]] = [
        *(("blocks:convert", {"blockId": block.id, "to": to}) for to in ("image", "table", None, 5)),
        ("blocks:convert", {"blockId": block.id}),
        ("blocks:convert", {"to": "list"}),
        ("blocks:convert", {"blockId": document, "to": "list"}),
        ("blocks:convert", {"blockId": block.id, "to": "list", "level": 1}),
        ("blocks:move", {"blockId": block.id}),
        ("blocks:move", {"blockId": block.id, "afterId": None, "parentId": None}),
        ("blocks:move", {"blockId": block.id, "afterId": None, "parentId": document}),
        ("blocks:add", {"documentId": document, "content": todo("c"), "parentId": None}),
        ("blocks:add", {"documentId": document, "content": todo("c"), "parentId": document}),
        ("documents:read", {"documentId": block.id}),
        ("documents:read", {}),
    ]
    for path, arguments in cases:
        with project.fails("ArgumentValidationError"):
            call = project.query if path.startswith("documents") else project.mutation
            pytest.fail(f"accepted {arguments}: {call(path, arguments)}")
    check(project, document, [block, other])
