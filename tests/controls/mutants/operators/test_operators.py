"""Each operator with pieces of code: what it makes of them, one change at a time."""

import pytest
from ast_grep_py import SgRoot

from convex_evals.controls.mutants import OPERATORS
from convex_evals.controls.mutants.syntax import apply_edits

CHANGES = {operator.name: operator.changes for operator in OPERATORS}
RANGE = 'db.query("t").withIndex("by_a", (q) => q.eq("a", x).gt("b", 1)).collect()'
IMPORT = 'import { query } from "./_generated/server";\n'

CASES: list[tuple[str, str, list[str]]] = [
    ("drop-index", RANGE, ['db.query("t").collect()']),
    ("drop-index", 'db.query("t").collect()', []),
    (
        "scan-instead-of-index",
        RANGE,
        ['db.query("t").filter((q) => q.and(q.eq(q.field("a"), x), q.gt(q.field("b"), 1))).collect()'],
    ),
    (
        "scan-instead-of-index",
        'db.query("t").withIndex("by_a", (q) => q.lt("a", x)).first()',
        ['db.query("t").filter((q) => q.lt(q.field("a"), x)).first()'],
    ),
    ("scan-instead-of-index", 'db.query("t").withIndex("by_a").first()', []),
    ("drop-range-condition", RANGE, [RANGE.replace('.gt("b", 1)', "")]),
    (
        "drop-range-condition",
        'db.query("t").withSearchIndex("s", (q) => q.search("a", x).eq("b", 1)).take(3)',
        ['db.query("t").withSearchIndex("s", (q) => q.search("a", x)).take(3)'],
    ),
    ("narrow-index", 'defineTable({}).index("by_a_b", ["a", "b"])', ['defineTable({}).index("by_a_b", ["a"])']),
    ("narrow-index", 'defineTable({}).index("by_a", ["a"])', ["defineTable({})"]),
    ("flip-order", 'db.query("t").order("desc").take(3)', ['db.query("t").order("asc").take(3)']),
    ("flip-order", 'db.query("t").order("asc").first()', ['db.query("t").order("desc").first()']),
    ("flip-order", 'db.query("t").collect()', ['db.query("t").order("desc").collect()']),
    ("flip-order", 'db.query("t").withSearchIndex("s", f).take(3)', []),
    ("flip-order", 'db.query("t").withIndex("by_a", f).unique()', []),
    ("flip-order", "things.first()", []),
    ("flip-sort", "xs.sort((a, b) => a.n - b.n)", ["xs.sort((b, a) => a.n - b.n)"]),
    ("flip-sort", "xs.toReversed()", ["xs"]),
    ("flip-sort", "xs.sort()", []),
    ("skip-effect", "{ await ctx.db.delete(id); }", ["{  }"]),
    ("skip-effect", "for (const id of ids) await ctx.db.delete(id);", ["for (const id of ids) {}"]),
    ("skip-effect", "const id = await ctx.db.insert(x);", []),
    ("remove-await", "const x = await f();", ["const x = f();"]),
    ("remove-await", "async () => { return await f(); }", []),
    ("remove-await", "async () => await f()", []),
    (
        "remove-await",
        "async () => { try { return await f(); } catch {} }",
        ["async () => { try { return f(); } catch {} }"],
    ),
    ("shift-limit", "q.take(args.limit)", ["q.take(args.limit + 1)"]),
    ("shift-limit", "xs.slice(from, n ?? 3)", ["xs.slice(from + 1, n ?? 3)", "xs.slice(from, (n ?? 3) + 1)"]),
    ("shift-limit", "q.take(5)", []),
    ("shift-number", "q.take(5)", ["q.take(6)"]),
    ("shift-number", "const most = 1_000;", ["const most = 1001;"]),
    ("shift-number", "v.literal(1)", []),
    ("shift-number", "const x: 1 | 2 = y * 0.5;", []),
    ("shift-comparison", "a < b", ["a <= b"]),
    ("shift-comparison", "a >= b", ["a > b"]),
    ("shift-comparison", '(q) => q.gt("a", 1)', ['(q) => q.gte("a", 1)']),
    ("shift-comparison", "a === b", []),
    ("negate-condition", "if (a === b) {}", ["if (!(a === b)) {}"]),
    ("negate-condition", "while (going) {}", ["while (!(going)) {}"]),
    ("negate-condition", "const x = a ? b : c;", ["const x = !(a) ? b : c;"]),
    ("swap-equality", "xs.filter((x) => x.a === 1)", ["xs.filter((x) => x.a !== 1)"]),
    ("swap-equality", "if (a === b) {}", []),
    ("swap-equality", "if (a === b && c !== d) {}", ["if (a !== b && c !== d) {}", "if (a === b && c === d) {}"]),
    ("swap-and-or", "if (a && b) {}", ["if (a || b) {}"]),
    ("swap-and-or", "x || y", ["x && y"]),
    ("drop-field", "() => { return { a: 1, b, ...c }; }", ["{ b, ...c }", "{ a: 1, ...c }", "{ a: 1, b }"]),
    ("drop-field", 'async () => { await ctx.db.insert("t", { a }); }', ['insert("t", {  })']),
    ("drop-field", "query({ args: { a: v.string() }, handler })", []),
    ("drop-field", "() => { const x = v.object({ a: v.string() }); }", []),
    ("return-nothing", "() => { return x; }", ["() => { return null; }"]),
    ("return-nothing", "async () => { return await q.collect(); }", ["async () => { return []; }"]),
    ("return-nothing", "() => { return null; }", []),
    ("return-nothing", "query({ handler: (ctx) => f(ctx) })", ["query({ handler: (ctx) => null })"]),
    ("return-nothing", "xs.map((x) => x.name)", []),
    (
        "change-visibility",
        f"{IMPORT}export const a = query({{}});",
        ['import { internalQuery, query } from "./_generated/server";\nexport const a = internalQuery({});'],
    ),
    (
        "change-visibility",
        'import { mutation, internalMutation } from "./_generated/server";\nexport const a = internalMutation({});',
        ['import { mutation, internalMutation } from "./_generated/server";\nexport const a = mutation({});'],
    ),
    (
        "query-as-mutation",
        f"{IMPORT}export const a = query({{}});",
        ['import { mutation, query } from "./_generated/server";\nexport const a = mutation({});'],
    ),
    ("query-as-mutation", 'db.query("t")', []),
    ("drop-args", "mutation({ args: { a: v.string() }, handler })", ["mutation({ handler })"]),
    ("drop-args", "mutation({ args, handler })", ["mutation({ handler })"]),
    ("drop-returns", "query({ returns: v.null(), handler })", ["query({ handler })"]),
    ("swap-validator", "({ a: v.string(), b: v.id('t') })", ["v.number()", "b: v.string()"]),
    ("widen-validator", "v.array(v.number())", ["v.any()", "v.array(v.any())"]),
    ("make-required", "v.optional(v.string())", ["v.string()"]),
    ("make-required", "v.nullable(v.id('t'))", ["v.id('t')"]),
    ("make-optional", "({ a: v.string() })", ["({ a: v.optional(v.string()) })"]),
    ("make-optional", "({ a: v.optional(v.string()) })", []),
    ("make-optional", "({ returns: v.null() })", []),
    ("drop-literal", 'v.union(v.literal("a"), v.literal("b"))', ['v.union(v.literal("b"))', 'v.union(v.literal("a"))']),
    ("prefix-as-path", 'http.route({ pathPrefix: "/a/", handler })', ['http.route({ path: "/a/", handler })']),
    ("swap-method", 'http.route({ path: "/a", method: "GET", handler })', ['method: "POST"']),
    ("swap-method", 'fetch(url, { method: "GET" })', []),
]


@pytest.mark.parametrize(("name", "source", "expected"), CASES)
def test_an_operator_makes_every_change_that_it_can(name: str, source: str, expected: list[str]) -> None:
    root = SgRoot(source, "typescript").root()
    made = [apply_edits(source, change) for change in CHANGES[name](root)]
    assert len(made) == len(expected), made
    for text, part in zip(made, expected, strict=True):
        assert part in text
        assert SgRoot(text, "typescript").root().find(kind="ERROR") is None


def test_every_operator_has_cases() -> None:
    assert {name for name, _, expected in CASES if expected} == set(CHANGES)


def test_places_are_counted_in_characters() -> None:
    source = 'const emoji = "😀é"; const x = a < b;'
    (change,) = CHANGES["shift-comparison"](SgRoot(source, "typescript").root())
    assert apply_edits(source, change) == 'const emoji = "😀é"; const x = a <= b;'
