"""Using up time, memory, space and patience: of functions, of tools, and of our own parsers."""

from ..answers import PASSES, Expected, HostileAnswer, fails, may_fail, node_calls, node_pushes, package_json, reference

NOTES, SCHEMA = reference("plain")["convex/notes.ts"], reference("plain")["convex/schema.ts"]
TESTS, DEPLOY = fails("tests"), fails("deploy")

HOARD = "const all = []; for (;;) all.push(Buffer.alloc(50e6, 1))"
MEMORY = {
    "hoards_objects": "const all = []; for (;;) all.push({ a: new Array(1000).fill(all.length) })",
    "returns_much": 'return "x".repeat(60e6)',
    "logs_much": 'for (let i = 0; i < 3000; i++) console.log("x".repeat(100000)); return "logged"',
    "prints_much": 'for (let i = 0; i < 3000; i++) { try { load("fs").writeSync(2, "x".repeat(100000)); load("fs").writeSync(1, "y".repeat(100000)); } catch {} } return "printed"',
    "spins": "for (;;) {}",
    "never_answers": "await new Promise(() => {})",
}
SPACE = {
    "spins_in_threads": (
        'const { Worker } = load("worker_threads"); for (let i = 0; i < 50; i++) new Worker("for (;;) {}", { eval: true }); for (;;) {}'
    ),
    "fills_scratch": (
        'const fs = load("fs"); const file = load("os").tmpdir() + "/big"; let size = 0;'
        "const chunk = Buffer.alloc(10e6); try { for (; size < 1e9; size += 10e6) fs.appendFileSync(file, chunk); } catch {}"
        "return size > 200e6 ? `wrote ${size} bytes` : undefined"
    ),
    "fills_scratch_with_files": (
        'const fs = load("fs"); const folder = load("os").tmpdir(); let n = 0;'
        "try { for (; n < 300000; n++) fs.writeFileSync(`${folder}/${n}`, 'x'); } catch {} return n >= 300000 ? `${n} files` : undefined"
    ),
    "starts_many_programs": (
        'let n = 0; try { for (; n < 300; n++) { const c = load("child_process").spawn("/bin/sleep", ["600"], { detached: true, stdio: "ignore" });'
        "c.on('error', () => { n = -1e6 }); c.unref(); } } catch {} await new Promise((done) => setTimeout(done, 300)); return n > 0 ? `${n} programs` : undefined"
    ),
}


def listing(body: str) -> dict[str, str | None]:
    head, _, _ = NOTES.partition("export const list")
    return {
        "convex/notes.ts": f"{head}export const list = query({{\n  args: {{ owner: v.string() }},\n  handler: async (ctx, args) => {{\n    void ctx;\n    void args;\n    {body}\n  }},\n}});\n"
    }


def module(text: str) -> dict[str, str | None]:
    return {"convex/more.ts": text}


ISOLATE = {
    "query_spins": 'let i = 0;\n    while (i >= 0) i = 0;\n    return "";',
    "query_hoards": "const all: number[][] = [];\n    while (all.length >= 0) all.push(new Array<number>(1e6).fill(1));\n    return all;",
    "query_recurses": "const again = (n: number): number => again(n + 1) + 1;\n    return again(0);",
    "query_returns_much": 'return "x".repeat(30e6);',
    "query_returns_deep": "let deep: unknown = [];\n    for (let i = 0; i < 100000; i++) deep = [deep];\n    return deep;",
    "query_returns_nan": "return [NaN, -0, Infinity, 2n ** 63n];",
    "query_returns_surrogates": 'return ["\\ud800", "\\u0000"];',
    "query_logs_much": 'for (let i = 0; i < 100000; i++) console.log("x".repeat(1000));\n    return [];',
    "query_backtracks": 'return /^(a+)+$/.test("a".repeat(50) + "b");',
    "query_never_answers": "await new Promise(() => undefined);\n    return [];",
}
TOP_LEVEL = {
    "module_spins": "let i = 0;\nwhile (i >= 0) i = 0;\nexport const x = i;\n",
    "module_hoards": "const all: number[][] = [];\nwhile (all.length >= 0) all.push(new Array<number>(1e6).fill(1));\nexport const x = all;\n",
    "module_awaits_forever": "export const x = await new Promise<number>(() => undefined);\n",
}
SOURCES: dict[str, tuple[dict[str, str | None], Expected]] = {
    "many_parentheses": (module(f"export const x = {'(' * 3000}1{')' * 3000};\n"), fails("deploy", "tsc", "eslint")),
    "many_arrays": (module(f"export const x: unknown = {'[' * 5000}{']' * 5000};\n"), fails("deploy", "tsc", "eslint")),
    "many_blocks": (module(f"export function x() {{ {'{' * 4000}{'}' * 4000} }}\n"), PASSES),
    "many_plus": (module(f"export const x = {'+'.join(['1'] * 100_000)};\n"), fails("deploy", "tsc", "eslint")),
    "endless_type": (
        module(
            "type Grow<T extends unknown[]> = T['length'] extends 900000 ? T : Grow<[...T, ...T, 1]>;\nexport const x: Grow<[1]> | null = null;\n"
        ),
        fails("tsc"),
    ),
    "exploding_type": (
        module(
            "type A = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';\nexport const x: `${A}${A}${A}${A}${A}${A}` = '000000';\n"
        ),
        fails("tsc"),
    ),
    "long_line": (module(f'export const x = "{"y" * 900_000}";\n'), PASSES),
    "large_file": (module(f'export const x = "{"y" * 1_100_000}";\n'), fails("filesystem")),
    "many_files": ({f"convex/m{i}.ts": "export const x = 1;\n" for i in range(600)}, fails("filesystem")),
    "many_bytes": ({f"convex/m{i}.ts": f"// {'y' * 900_000}\n" for i in range(10)}, fails("filesystem")),
    "many_exports": (module("".join(f"export const x{i} = {i};\n" for i in range(20_000))), PASSES),
    "many_functions": (
        module(
            'import { query } from "./_generated/server";\n'
            + "".join(f"export const f{i} = query(() => {i});\n" for i in range(6000))
        ),
        PASSES,
    ),
    "wide_schema": (
        {
            "convex/schema.ts": SCHEMA.replace(
                "notes:", "".join(f"t{i}: defineTable({{ a: v.string() }}),\n" for i in range(3000)) + "notes:"
            )
        },
        PASSES,
    ),
    "deep_schema": (
        {"convex/schema.ts": SCHEMA.replace("v.string() })", f"{'v.array(' * 2000}v.string(){')' * 2000} }})")},
        fails("deploy", "tsc", "eslint"),
    ),
    "package_json_digits": ({"package.json": package_json().replace('"x"', f'"x", "n": {"9" * 5000}', 1)}, PASSES),
    "package_json_deep": ({"package.json": '{"a":' * 50_000 + "1" + "}" * 50_000}, fails("install")),
    "package_json_folder": ({"package.json": None, "package.json/x": "1"}, fails("install", "filesystem")),
    "package_json_nul": ({"package.json": "\0" * 100}, fails("install")),
    "package_json_list": ({"package.json": "[" * 100_000}, fails("install")),
    "package_json_large": ({"package.json": package_json(x="y" * 990_000)}, fails("install")),
    "tsconfig_extends_itself": ({"convex/tsconfig.json": '{"extends": "./tsconfig.json"}'}, fails("deploy", "tsc")),
    "tsconfig_circle": (
        {"convex/tsconfig.json": '{"extends": "./a.json"}', "convex/a.json": '{"extends": "./tsconfig.json"}'},
        fails("deploy", "tsc"),
    ),
    "tsconfig_folder": ({"convex/tsconfig.json/x.ts": "export const x = 1;\n"}, fails("deploy", "tsc", "filesystem")),
    "tsconfig_deep": ({"convex/tsconfig.json": "[" * 100_000}, fails("deploy", "tsc")),
    "tsconfig_digits": ({"convex/tsconfig.json": f'{{"x": {"9" * 5000}}}'}, fails("deploy", "tsc")),
    "tsconfig_comments": (
        {"convex/tsconfig.json": "/*" * 200_000 + '*/{"compilerOptions": {}}'},
        fails("deploy", "tsc"),
    ),
    "backtracks_in_comments": (
        module(f"{'/*' * 100_000}\n{'// @ts-ignor' * 20_000}\n*/ export const x = 1;\n"),
        fails("deploy", "tsc"),
    ),
    "backtracks_in_imports": (module(f"{'import { a' * 20_000}\n"), DEPLOY),
    "backtracks_in_directives": (module("'use node" * 20_000 + "\nexport const x = 1;\n"), DEPLOY),
    "nested_templates": (module(f"export const x = {'`${' * 2000}1{'}`' * 2000};\n"), fails("deploy", "tsc", "eslint")),
    "spins_in_http": ({"convex/http.ts": "for (let i = 0; i >= 0; i = 0) {}\nexport default null;\n"}, DEPLOY),
    "spins_in_crons": ({"convex/crons.ts": "for (let i = 0; i >= 0; i = 0) {}\nexport default null;\n"}, DEPLOY),
    "spins_in_schema": ({"convex/schema.ts": "for (let i = 0; i >= 0; i = 0) {}\n" + SCHEMA}, DEPLOY),
    "schedules_without_end": (
        {
            "convex/notes.ts": NOTES.replace(
                'await ctx.db.insert("notes", args)',
                '{\n    for (let i = 0; i < 5000; i++) await ctx.scheduler.runAfter(0, api.notes.add, args);\n    return await ctx.db.insert("notes", args);\n  }',
            ).replace("import { v }", 'import { api } from "./_generated/api";\nimport { v }')
        },
        fails("tsc", "eslint", "tests"),
    ),
}

QUICK = ("hoards_buffers",)
ANSWERS = [
    *node_calls({"hoards_buffers": HOARD}, may_fail("tests"), quick=QUICK),
    *node_calls(MEMORY, TESTS, quick=QUICK),
    *node_calls(SPACE, quick=QUICK),
    *node_pushes({"pushed_spins": "for (;;) {}"}, DEPLOY, quick=QUICK),
    *node_pushes({"pushed_hoards": HOARD}, may_fail("deploy"), quick=QUICK),
    *(
        HostileAnswer(name, "plain", listing(body), fails("tests", "tsc", "eslint"), name in QUICK)
        for name, body in ISOLATE.items()
    ),
    *(HostileAnswer(name, "plain", module(text), DEPLOY, name in QUICK) for name, text in TOP_LEVEL.items()),
    *(HostileAnswer(name, "plain", files, expected, name in QUICK) for name, (files, expected) in SOURCES.items()),
]
