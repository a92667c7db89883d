"""Commands of the CLI that look into components."""

import json
from operator import itemgetter
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_run_calls_functions_of_any_instance_internal_ones_too(local: Any) -> None:
    for component, function in [("second", "public:addLater"), ("outer/inner", "public:addLater")]:
        answer = await local.convex("run", "--component", component, function, json.dumps({"text": component}))
        assert answer.exit_code == 0, answer.output
        answer = await local.convex("run", "--component", component, "public:list")
        assert json.loads(answer.output) == [component]


async def test_run_says_which_component_lacks_a_function(local: Any) -> None:
    answer = await local.convex("run", "--component", "second", "public:missing")
    assert answer.exit_code == 1
    assert "Could not find function for 'public:missing' in 'second'." in answer.output


async def test_run_asks_a_component_with_code_of_its_own(local: Any) -> None:
    code = 'return (await ctx.db.query("notes").collect()).map((note) => note.text);'
    answer = await local.convex("run", "--component", "second", "--inline-query", code)
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.output) == ["second"]


async def test_data_lists_and_shows_the_tables_of_a_component(local: Any) -> None:
    answer = await local.convex("data", "--component", "second")
    assert sorted(answer.output.split()) == ["notes", "ticks"]
    answer = await local.convex("data", "notes", "--component", "second", "--format", "json")
    assert [row["text"] for row in json.loads(answer.output)] == ["second"]


async def test_function_spec_lists_the_app_and_api_spec_lists_a_component(local: Any) -> None:
    answer = await local.convex("function-spec")
    spec = json.loads(answer.output)
    assert "notes.js:addEverywhere" in [function.get("identifier") for function in spec["functions"]]
    id = local.deployment.application.instances["second"].id
    functions = await local.query_system("cli/modules:apiSpec", componentId=id)
    identifiers = [function.get("identifier") for function in functions]
    assert "public.js:list" in identifiers
    assert "notes.js:addEverywhere" not in identifiers


async def test_components_are_listed_with_what_they_are(local: Any) -> None:
    listed = await local.query_system("frontend/components:list")
    path = itemgetter("path")
    assert [
        (entry["path"], entry["name"], entry["state"], entry["httpPrefix"]) for entry in sorted(listed, key=path)
    ] == [
        ("", None, "active", None),
        ("notebook", "notebook", "active", "/first/"),
        ("outer", "outer", "active", "/outer/"),
        ("outer/inner", "inner", "active", "/outer/inner/"),
        ("second", "second", "active", "/second/"),
    ]
