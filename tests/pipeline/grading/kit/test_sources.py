"""Looking at sources by their structure."""

from pathlib import Path

import pytest

from convex_evals.pipeline.grading.kit import Sources
from convex_evals.pipeline.grading.kit.sources import Import

MESSAGES = """\
"use node";
// a comment
import { v, type Infer } from "convex/values";
import { query as q } from "./_generated/server";
import React, * as everything from "react";
import type { Id } from "./_generated/dataModel";

const hidden = 1;
export const list = q({
  args: { id: v.string() },
  handler: async (ctx, { id }) => {
    const found = await ctx.db.query("messages").withIndex("by_id", (x) => x.eq("id", id)).order("desc").take(5);
    const first = (await ctx.db.get(id))!.name.trim();
    // ctx.db.query("commented").collect()
    return [...found, first, "ctx.db.query('quoted').collect()"];
  },
});
export function helper() { return list; }
export default helper;
export { hidden as shown };
export { other } from "./other";
"""


@pytest.fixture
def files(tmp_path: Path) -> Sources:
    for name, text in {
        "convex/messages.ts": MESSAGES,
        "convex/_generated/api.d.ts": "generated",
        "src/App.tsx": "export default function App() { return <button onClick={() => go(1)}>Go</button>; }",
        "package.json": '{"dependencies": {"convex": "1.44.0"}}',
        "tsconfig.json": '{"compilerOptions": {"strict": true,} /* yes */}',
        "broken.json": "{",
        "list.json": "[]",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/a.ts").write_text("")
    (tmp_path / "link.ts").symlink_to("/etc/passwd")
    return Sources(tmp_path)


def test_only_what_was_written_is_listed(files: Sources) -> None:
    assert files.paths() == [
        "broken.json",
        "convex/messages.ts",
        "list.json",
        "package.json",
        "src/App.tsx",
        "tsconfig.json",
    ]
    assert files.paths("convex/**/*.ts") == ["convex/messages.ts"]
    assert [module.path for module in files.modules("**/*")] == ["convex/messages.ts", "src/App.tsx"]
    assert not files.exists("link.ts")


def test_json_files_are_read(files: Sources) -> None:
    assert files.package_json["dependencies"] == {"convex": "1.44.0"}
    assert files.json("tsconfig.json") == {"compilerOptions": {"strict": True}}
    with pytest.raises(AssertionError, match=r"broken.json is not valid JSON"):
        files.json("broken.json")
    with pytest.raises(AssertionError, match=r"list.json must hold a JSON object"):
        files.json("list.json")


def test_a_missing_file_is_named_with_its_likely_spelling(files: Sources) -> None:
    with pytest.raises(AssertionError, match=r"there is no file convex/message.ts; did you mean convex/messages.ts\?"):
        files.text("convex/message.ts")


def test_imports_are_reported_by_name(files: Sources) -> None:
    module = files.module("convex/messages.ts")
    assert module.imports == [
        Import("convex/values", "v", "v", False),
        Import("convex/values", "Infer", "Infer", True),
        Import("./_generated/server", "query", "q", False),
        Import("react", "default", "React", False),
        Import("react", "*", "everything", False),
        Import("./_generated/dataModel", "Id", "Id", True),
    ]
    assert module.imports_from("convex/values") == {"v", "Infer"}
    assert module.directives == ["use node"]


def test_exports_are_what_they_stand_for(files: Sources) -> None:
    module = files.module("convex/messages.ts")
    assert sorted(module.exports) == ["default", "helper", "list", "other", "shown"]
    assert module.export("shown").text == "1"
    assert module.export("default").text == "function helper() { return list; }"
    assert module.export("list").text.startswith("q({")
    with pytest.raises(AssertionError, match=r"convex/messages.ts exports no lists; did you mean list\?"):
        module.export("lists")


def test_chains_of_calls_are_found_whole_and_only_in_code(files: Sources) -> None:
    listed = files.module("convex/messages.ts").export("list")
    queries = [chain for chain in listed.chains if chain.starts_with("db", "query")]
    assert [(chain.root, chain.names) for chain in queries] == [("ctx", ("db", "query", "withIndex", "order", "take"))]
    index = queries[0].call("withIndex")
    assert index is not None
    assert index.texts[0] == "by_id"
    assert [call.texts for call in listed.calls_of("take")] == [("5",)]
    gets = [chain for chain in listed.chains if chain.starts_with("db", "get")]
    assert [chain.names for chain in gets] == [("db", "get", "name", "trim")]
    assert queries[0].call("collect") is None


def test_patterns_match_structure(files: Sources) -> None:
    app = files.module("src/App.tsx")
    assert app.contains("<button $$$ATTRIBUTES>$$$CHILDREN</button>")
    assert [node.text() for node in app.find_all("go($N)")] == ["go(1)"]


@pytest.mark.parametrize(
    "code",
    [
        "const { meta } = ctx as unknown as { meta: object };",
        "const names = Object.getOwnPropertyNames(source);",
        "for (const method of Object.values(ctx.meta)) await method();",
        "const parts = new Map(Object.entries(ctx));",
        "const member: unknown = Reflect.get(source, name);",
        "current = Object.getPrototypeOf(current) as unknown;",
    ],
)
def test_a_search_through_what_an_object_has_is_found(files: Sources, code: str) -> None:
    (files.root / "convex/search.ts").write_text(f"{code}\n")
    (found,) = files.searches()
    assert found.startswith("convex/search.ts: ")


def test_members_that_are_named_are_not_searched_for(files: Sources) -> None:
    code = (
        "const { now } = await ctx.meta.getRequestMetadata();\nfor (const n of Object.keys(args)) use(n as string);\n"
    )
    (files.root / "convex/search.ts").write_text(f"// Object.keys(ctx)\n{code}")
    assert files.searches() == []
