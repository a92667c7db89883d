import pytest

from convex_evals.analysis.differences import compare_answers

SCHEMA = """\
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({
  messages: defineTable({ channel: v.string(), read: v.optional(v.number()) }).index("by_channel", ["channel"]),
});
"""
INDEX = """\
import { v } from "convex/values";
import { query } from "./_generated/server";
export const list = query({ args: { channel: v.string() }, returns: v.null(), handler: async () => null });
"""
CONSTANT = "\nconst fields = { channel: v.string() };\n"
ANSWER = {
    "package.json": '{"dependencies": {"convex": "^1.44.0"}}',
    "convex/schema.ts": SCHEMA,
    "convex/index.ts": INDEX,
}


def changed(path: str, old: str, new: str) -> dict[str, str]:
    assert old in ANSWER[path]
    return {**ANSWER, path: ANSWER[path].replace(old, new)}


@pytest.mark.parametrize(
    ("files", "difference"),
    [
        (
            changed("convex/schema.ts", "channel: v.string()", "channel: v.number()"),
            "field channel in table messages: expected v.string(), received v.number()",
        ),
        (
            changed("convex/schema.ts", '["channel"]', '["channel", "read"]'),
            'index by_channel in table messages: expected ["channel"], received ["channel", "read"]',
        ),
        (
            changed("convex/schema.ts", '"by_channel"', '"byChannel"'),
            'index on ["channel"] in table messages: expected called by_channel, received called byChannel',
        ),
        (
            changed("convex/schema.ts", "messages:", "posts:"),
            "table messages in convex/schema.ts: expected a table, received none",
        ),
        (
            changed("convex/index.ts", "= query(", "= mutation("),
            "function kind list in convex/index.ts: expected query, received mutation",
        ),
        (
            changed("convex/index.ts", " returns: v.null(),", ""),
            "returns list in convex/index.ts: expected v.null(), received none",
        ),
        (
            changed("convex/index.ts", "args: { channel: v.string() }", "args: {}"),
            "arguments list in convex/index.ts: expected { channel: v.string() }, received {  }",
        ),
        (
            changed("convex/index.ts", "const list", "const all"),
            "export list in convex/index.ts: expected query, received none",
        ),
        (
            changed("convex/index.ts", '"./_generated/server"', '"convex/server"'),
            "import query in convex/index.ts: expected ./_generated/server, received convex/server",
        ),
        (
            changed("convex/index.ts", "import { v }", '"use node";\nimport { v }'),
            "directive use node in convex/index.ts: expected none, received present",
        ),
        (
            changed("package.json", "^1.44.0", "^0.1.0"),
            "dependency convex in package.json: expected ^1.44.0, received ^0.1.0",
        ),
        ({**ANSWER, "convex/more.ts": ""}, "file in convex/more.ts: expected none, received a file"),
    ],
)
def test_what_means_something_else_is_a_difference(files: dict[str, str], difference: str) -> None:
    assert difference in [str(each) for each in compare_answers(files, ANSWER)]


@pytest.mark.parametrize(
    "files",
    [
        changed("convex/schema.ts", "v.optional(v.number())", "v.optional(v.float64())"),
        changed("convex/schema.ts", "{ channel: v.string(), read", "{\n    channel: v.string(),\n    read"),
        changed("convex/schema.ts", "defineTable({", "defineTable({ /* a comment */"),
        {**ANSWER, "convex/index.ts": INDEX.replace("{ channel: v.string() }", "fields") + CONSTANT},
        {**ANSWER, "README.md": "Hello.", "tsconfig.json": "{}"},
    ],
)
def test_layout_synonyms_and_readmes_are_not_differences(files: dict[str, str]) -> None:
    assert compare_answers(files, ANSWER) == ()


def test_without_one_side_nothing_is_compared() -> None:
    assert compare_answers({}, ANSWER) == compare_answers(ANSWER, {}) == ()
