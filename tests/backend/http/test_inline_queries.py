from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.toolchain import Toolchain

pytestmark = pytest.mark.asyncio(loop_scope="module")

IMPORT = 'import { query, internalQuery } from "convex:/_system/repl/wrappers.js";\n'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(deploy: Any, esbuild_toolchain: Toolchain) -> AsyncIterator[Deployment]:
    sdk = esbuild_toolchain.packages.node_modules / "convex"
    async with Deployment.run(DeploymentSettings(sdk=sdk)) as running:
        await deploy(running)
        await running.mutation("messages:send", {"channel": "a", "body": "hi"})
        yield running


def body(source: str, **fields: object) -> dict[str, object]:
    bundle = {"path": "testQuery.js", "source": IMPORT + source}
    return {"args": {}, "bundle": bundle, "format": "convex_encoded_json", **fields}


async def run(client: httpx2.AsyncClient, source: str, **fields: object) -> Any:
    response = await client.post("/api/run_test_function", json=body(source, **fields))
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_query_can_bring_its_own_code(admin: httpx2.AsyncClient) -> None:
    source = """export default query({ handler: async (ctx) => {
      console.log("reading");
      const found = await ctx.db.query("messages").withIndex("by_channel", (q) => q.eq("channel", "a")).collect();
      return found.map((message) => message.body);
    }})"""
    assert await run(admin, source) == {"status": "success", "value": ["hi"], "logLines": ["[LOG] 'reading'"]}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("export default internalQuery(async () => 5n)", {"$integer": "BQAAAAAAAAA="}),
        ("export default query(async (ctx) => await ctx.auth.getUserIdentity())", None),
        ("export default query(async (ctx) => await ctx.runQuery('messages:list', {channel: 'a'}))", ["hi"]),
        ("export default query(async (ctx, {n}) => n)", 7.0),
    ],
)
async def test_it_runs_as_a_deployed_query_would(admin: httpx2.AsyncClient, source: str, value: object) -> None:
    assert (await run(admin, source, args={"n": 7}))["value"] == value


async def test_it_cannot_write(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    attempts = {
        "ctx.db.insert('messages', {channel: 'a', body: 'no', likes: 0})": "ctx.db.insert is not a function",
        "ctx.runMutation('messages:send', {channel: 'a', body: 'no'})": "ctx.runMutation is not a function",
        "Convex.asyncSyscall('1.0/insert', '{}')": "Unknown async operation 1.0/insert",
    }
    for attempt, text in attempts.items():
        answer = await run(admin, f"export default query(async (ctx) => await {attempt})")
        assert (answer["status"], text in answer["errorMessage"]) == ("error", True), answer
    assert (await deployment.query("messages:list", {"channel": "a"})).value == '["hi"]'


async def test_its_errors_are_those_of_a_function(admin: httpx2.AsyncClient) -> None:
    answer = await run(admin, "export default query(async () => { throw new Error('boom'); })")
    assert answer["status"] == "error"
    assert answer["errorMessage"].endswith("Server Error\nUncaught Error: boom\n")


@pytest.mark.parametrize(
    ("source", "code", "text"),
    [
        ("export default quer(", "InvalidModules", "Failed to analyze testQuery.js: Uncaught SyntaxError"),
        ("export const other = query(async () => 1)", "InvalidTestQuery", "must be a query; it is nothing of the kind"),
        (
            "export default Object.assign(() => 1, {isMutation: true, isPublic: true, invokeMutation: () => '1'})",
            "InvalidTestQuery",
            "must be a query; it is a mutation",
        ),
        ('import "./nowhere.js"', "InvalidModules", "nowhere.js"),
    ],
)
async def test_code_that_is_no_query_is_refused(admin: httpx2.AsyncClient, source: str, code: str, text: str) -> None:
    response = await admin.post("/api/run_test_function", json=body(source))
    assert (response.status_code, response.json()["code"]) == (400, code)
    assert text in response.json()["message"]


async def test_a_component_must_exist(admin: httpx2.AsyncClient) -> None:
    response = await admin.post(
        "/api/run_test_function", json=body("export default query(async () => 1)", componentId="x")
    )
    assert (response.status_code, response.json()["code"]) == (400, "InvalidComponentId")


async def test_only_administrators_may(client: httpx2.AsyncClient, deployment: Deployment) -> None:
    source = "export default query(async () => 1)"
    assert (await client.post("/api/run_test_function", json=body(source))).status_code == 403
    assert (await client.post("/api/run_test_function", json=body(source, adminKey="x|y"))).status_code == 401
    assert (await run(client, source, adminKey=deployment.admin_key))["value"] == 1.0


async def test_it_needs_no_deployed_code_and_changes_none(esbuild_toolchain: Toolchain) -> None:
    sdk = esbuild_toolchain.packages.node_modules / "convex"
    async with Deployment.run(DeploymentSettings(sdk=sdk)) as empty:
        headers = {"Authorization": f"Convex {empty.admin_key}"}
        async with httpx2.AsyncClient(base_url=empty.url, headers=headers, timeout=60) as client:
            answer = await run(client, "export default query(async (ctx) => await ctx.db.query('none').collect())")
        assert (answer["value"], empty.application) == ([], None)


async def test_without_the_toolchain_it_says_so() -> None:
    async with Deployment.start() as bare:
        headers = {"Authorization": f"Convex {bare.admin_key}"}
        async with httpx2.AsyncClient(base_url=bare.url, headers=headers, timeout=60) as client:
            response = await client.post("/api/run_test_function", json=body("export default query(async () => 1)"))
    assert (response.status_code, response.json()["code"]) == (400, "InlineQueriesUnavailable")
