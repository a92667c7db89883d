import pytest

from convex_evals.analysis.surface import Surface, complained_symbols, snippet_symbols, unknown_symbols
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.suite import find_suite, load_suite, read_answer

SERVER = 'import { query, mutation, action, type QueryCtx } from "./_generated/server";\n'


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ('import { v } from "convex/values";\nexport const t = v.tuple([v.string()]);', ["v has no tuple"]),
        ('import { v } from "convex/values";\nexport const o = v.string().optional();', ["v.string() has no optional"]),
        ('import { v as w } from "convex/values";\nexport const t = w.date();', ["w has no date"]),
        (SERVER + "export const q = query(async (ctx) => ctx.db.insert('a', {}));", ["ctx.db has no insert"]),
        (SERVER + "export const q = action({ args: {}, handler: async (ctx) => ctx.db });", ["ctx has no db"]),
        (
            SERVER + 'export const q = query(async (c) => c.db.query("a").filter((q) => q.contains(1)).all());',
            ["QueryInitializer has no all", "q has no contains"],
        ),
        (SERVER + "export async function f(ctx: QueryCtx) { return ctx.db.patch; }", ["ctx.db has no patch"]),
        (
            'import { cronJobs } from "convex/server";\nconst crons = cronJobs();\ncrons.everyMinute("x");',
            ["crons has no everyMinute"],
        ),
        (
            'import { paginationOptsValidator } from "./_generated/server";',
            ['"./_generated/server" has no paginationOptsValidator; convex/server has it'],
        ),
        ('import { useQueries, useThing } from "convex/react";', ['"convex/react" has no useThing']),
    ],
)
def test_what_the_installed_package_does_not_have_is_found(code: str, missing: list[str], surface: Surface) -> None:
    found = [str(symbol).partition(" (but")[0] for symbol in unknown_symbols({"convex/index.ts": code}, surface)]
    assert found == missing


@pytest.mark.parametrize(
    "code",
    [
        SERVER
        + "export const m = mutation(async (ctx) => { await ctx.db.insert('a', {}); return ctx.storage.toString(); });",
        SERVER + 'export const q = query(async (ctx) => (await ctx.db.query("a").collect()).map((a) => a.anything));',
        SERVER + "export const q = query(async (ctx: any) => ctx.db.whatever());",
        "const v = { tuple: () => 1 };\nexport const t = v.tuple();",
        SERVER
        + 'import { v } from "convex/values";\nconst rows = v.array(v.string());\n'
        + "export const q = query({ args: { rows }, handler: async (ctx, { rows }) => rows.map((row) => row) });",
        'import { anything } from "./helpers";\nexport const x = anything.at.all();',
        SERVER + "export async function f(ctx: QueryCtx & { member: string }) { return ctx.member; }",
        "this is not even { code",
    ],
)
def test_what_exists_or_is_not_ours_to_judge_is_left_alone(code: str, surface: Surface) -> None:
    assert unknown_symbols({"convex/index.ts": code}, surface) == ()


def test_no_reference_answer_uses_anything_that_does_not_exist(surface: Surface) -> None:
    suite = load_suite(find_suite())
    found = {each.id: unknown_symbols(read_answer(each), surface) for each in suite.evals}
    assert {name: symbols for name, symbols in found.items() if symbols} == {}


@pytest.mark.parametrize(
    ("snippet", "names"),
    [
        ('for await (const team of ctx.db.query("teams").iter())', ["iter"]),
        ("returns: v.tuple([userValidator, postValidator])", ["tuple"]),
        ("const a = { opts: v.paginationOpts }", ["paginationOpts"]),
        ("ctx.storage.store(new TextEncoder().encode(text))", []),
        ('crons.interval("run every second", { seconds: 1 })', []),
    ],
)
def test_in_a_snippet_v_and_ctx_are_what_they_usually_are(snippet: str, names: list[str], surface: Surface) -> None:
    assert [symbol.name for symbol in snippet_symbols(snippet, surface)] == names


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Property 'iter' does not exist on type 'OrderedQuery<{ document: 1 }>'.", ["OrderedQuery has no iter"]),
        ("Property 'name' does not exist on type 'Customer'.", []),
        ("Module '\"convex/values\"' has no exported member 'Doc'.", ['"convex/values" has no Doc']),
        ("Module '\"./helpers\"' has no exported member 'x'.", []),
    ],
)
def test_complaints_of_the_compiler_count_when_the_owner_is_convex(
    message: str, found: list[str], surface: Surface
) -> None:
    diagnostic = Diagnostic("tsc", message, "TS2339", "convex/index.ts", 3)
    assert [str(symbol) for symbol in complained_symbols([diagnostic], surface)] == found
