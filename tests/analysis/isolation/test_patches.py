from convex_evals.analysis.isolation.patches import Patch, Patches

MODEL = {
    "convex/index.ts": """\
"use node";
import { v } from "convex/values";

// Lists.
export const list = query({ args: {}, handler: async () => 1 });

export const add = mutation({ args: { a: v.any() }, handler: async () => 2 });
""",
    "convex/extra.ts": "export const x = 1;\n",
}
EXPECTED = {
    "convex/index.ts": """\
"use node";
import { v } from "convex/values";
import { helper } from "./helpers";

const shared = { a: v.string() };

export const list = query({ args: {}, handler: async () => 1, });

export const add = mutation({ args: shared, handler: async () => helper(2) });
""",
    "convex/helpers.ts": "export const helper = (n: number) => n;\n",
    "package.json": "{}",
}


def patch(patches: Patches, key: str) -> Patch:
    return next(each for each in patches.all() if each.key == key)


def test_layout_is_not_a_difference_and_helpers_come_with_what_uses_them() -> None:
    found = {(each.file, each.key) for each in Patches(MODEL, EXPECTED).all()}
    assert ("convex/index.ts", "add") in found
    assert ("convex/index.ts", "list") not in found
    assert ("convex/index.ts", "shared") not in found


def test_a_piece_of_the_reference_brings_its_constants_imports_and_files() -> None:
    patches = Patches(MODEL, EXPECTED)
    files = patches.applied([patch(patches, "add")])
    text = files["convex/index.ts"]
    assert text.startswith('"use node";\nimport { v }')
    assert (
        text.index('import { helper } from "./helpers";') < text.index("const shared") < text.index("export const add")
    )
    assert "// Lists." in text
    assert "helper(2)" in text
    assert "v.any()" not in text
    assert files["convex/helpers.ts"] == EXPECTED["convex/helpers.ts"]
    assert files["convex/extra.ts"] == MODEL["convex/extra.ts"]


def test_all_patches_together_are_the_reference_but_for_layout() -> None:
    patches = Patches(MODEL, EXPECTED)
    files = patches.applied(patches.all())
    assert files.keys() == EXPECTED.keys()
    assert Patches(files, EXPECTED).all() == ()


def test_an_index_that_only_the_reference_has_comes_with_the_query_that_names_it() -> None:
    schema = "export default defineSchema({ a: defineTable({ b: v.string() })%s });\n"
    query = 'export const q = query(async (ctx) => ctx.db.query("a")%s.collect());\n'
    model = {"convex/schema.ts": schema % "", "convex/index.ts": query % ""}
    expected = {
        "convex/schema.ts": schema % '.index("by_b", ["b"])',
        "convex/index.ts": query % '.withIndex("by_b")',
    }
    patches = Patches(model, expected)
    assert patches.applied([patch(patches, "q")])["convex/schema.ts"].strip() == expected["convex/schema.ts"].strip()


def test_a_file_that_cannot_be_parsed_is_taken_as_a_whole() -> None:
    patches = Patches({"convex/index.ts": "export const = (("}, {"convex/index.ts": "export const a = 1;\n"})
    (only,) = patches.all()
    assert only.key == "(file)"
    assert patches.applied([only]) == {"convex/index.ts": "export const a = 1;\n"}


def test_a_name_in_package_json_and_a_missing_tsconfig_mean_nothing() -> None:
    model = {"package.json": '{"name": "a", "dependencies": {"convex": "1"}}'}
    expected = {"package.json": '{"name": "b", "dependencies": {"convex": "1"}}', "convex/tsconfig.json": "{}"}
    assert Patches(model, expected).all() == ()


def test_a_declaration_that_is_called_file_is_not_the_whole_file() -> None:
    other = "export const b = %d;\n"
    model, reference = (f"export const file = {n};\n{other % n}" for n in (1, 2))
    patches = Patches({"convex/index.ts": model}, {"convex/index.ts": reference})
    text = patches.applied([patch(patches, "file")])["convex/index.ts"]
    assert "file = 2" in text
    assert "b = 1" in text
