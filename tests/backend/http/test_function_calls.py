"""Functions over HTTP, as `fetch` and `curl` call them."""

import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.admin_keys import LOCAL_ADMIN_KEY
from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.toolchain import Toolchain

pytestmark = pytest.mark.asyncio(loop_scope="module")

ID = "4d7c1a9be0f23a55"

IMPORT = 'import { query, internalQuery } from "convex:/_system/repl/wrappers.js";\n'


async def call(client: httpx2.AsyncClient, kind: str, path: str, args: object = None, **options: Any) -> Any:
    headers = options.pop("headers", {})
    body = {"path": path, "args": {} if args is None else args, **options}
    response = await client.post(f"/api/{kind}", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


async def test_success_is_a_value_and_lines_if_there_are_any(client: httpx2.AsyncClient) -> None:
    sent = await call(client, "mutation", "messages:send", {"channel": "http", "body": "hi"})
    assert sent.keys() == {"status", "value"}
    listed = await call(client, "query", "messages:list", [{"channel": "http"}])
    assert listed == {"status": "success", "value": ["hi"], "logLines": ["[LOG] 'listing' 'http'"]}
    acted = await call(client, "action", "messages:sendAndList", {"body": "there"})
    assert acted == {"status": "success", "value": ["there"], "logLines": ["[LOG] 'acting'"]}


async def test_queries_can_be_asked_for_in_the_address(client: httpx2.AsyncClient) -> None:
    params = {"path": "messages:echo", "args": '{"value":1}', "format": "json"}
    response = await client.get("/api/query", params=params)
    assert response.text == '{"status":"success","value":1.0}'
    missing = await client.get("/api/query", params={"args": "{}"})
    assert missing.json() == {
        "code": "BadQueryArgs",
        "message": "Failed to deserialize query string: missing field `path`",
    }


@pytest.mark.parametrize(
    ("kind", "path", "message"),
    [
        ("query", "messages:nope", "Could not find public function for 'messages:nope'.\n"),
        ("query", "messages:hidden", "Could not find public function for 'messages:hidden'.\n"),
        ("mutation", "messages:list", "Trying to execute messages.js:list as Mutation, but it is defined as Query.\n"),
        ("query", "_system/frontend/tableSize", "Operation query not permitted\n"),
        (
            "run/messages/nope",
            "",
            "Could not find function for 'messages:nope'. Did you forget to run `npx convex dev`?\n",
        ),
    ],
)
async def test_refused_calls_are_answers_too(client: httpx2.AsyncClient, kind: str, path: str, message: str) -> None:
    answer = await call(client, kind, path, headers={"Convex-Request-Id": ID})
    assert answer == {"status": "error", "errorMessage": f"[Request ID: {ID}] Server Error\n{message}"}


async def test_thrown_errors_have_frames_and_no_data(client: httpx2.AsyncClient) -> None:
    answer = await call(client, "query", "messages:fail")
    first, second, frame, *_ = answer["errorMessage"].split("\n")
    assert first.startswith("[Request ID: ") and first.endswith("] Server Error")
    assert second == "Uncaught Error: boom"
    assert frame.startswith("    at ") and "messages.ts:" in frame
    assert answer.keys() == {"status", "errorMessage"}


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("convex_encoded_json", {"code": 7.0, "big": {"$integer": "BQAAAAAAAAA="}}),
        ("json", {"code": 7.0, "big": "5"}),
    ],
)
async def test_convex_errors_carry_data_in_the_format_asked_for(
    client: httpx2.AsyncClient, form: str, data: object
) -> None:
    answer = await call(client, "mutation", "messages:refuse", format=form)
    assert answer["errorData"] == data
    assert "Uncaught ConvexError: " in answer["errorMessage"]


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (1, "convex_encoded_json", "1.0"),
        (1, "json", "1.0"),
        ({"$integer": "BQAAAAAAAAA="}, "convex_encoded_json", '{"$integer":"BQAAAAAAAAA="}'),
        ({"$integer": "BQAAAAAAAAA="}, "json", '"5"'),
        ({"$integer": "BQAAAAAAAAA="}, "export_json", "5"),
        ({"$float": "AAAAAAAA+H8="}, "json", '"NaN"'),
        ({"$bytes": "AQI="}, "convex_clean_json", '"AQI="'),
        ({"b": 1, "a": [None, True, "x"]}, "json", '{"a":[null,true,"x"],"b":1.0}'),
    ],
)
async def test_values_come_in_the_format_asked_for(
    client: httpx2.AsyncClient, value: object, form: str, text: str
) -> None:
    body = {"path": "messages:echo", "args": {"value": value}, "format": form}
    response = await client.post("/api/query", json=body)
    assert response.text == f'{{"status":"success","value":{text}}}'
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (None, '"5"'),
        ("npm-1.44.0", '"5"'),
        ("npm-1.4.0", '{"$integer":"BQAAAAAAAAA="}'),
        ("python-0.4.9", '{"$integer":"BQAAAAAAAAA="}'),
        ("curl-8.0.0", '"5"'),
    ],
)
async def test_only_very_old_clients_get_encoded_values_unasked(
    client: httpx2.AsyncClient, header: str | None, text: str
) -> None:
    headers = {} if header is None else {"Convex-Client": header}
    body = {"path": "messages:echo", "args": {"value": {"$integer": "BQAAAAAAAAA="}}}
    response = await client.post("/api/query", json=body, headers=headers)
    assert response.text == f'{{"status":"success","value":{text}}}'


@pytest.mark.parametrize(
    ("path", "request_options", "status", "code"),
    [
        ("query", {"content": b"{}"}, 400, "BadJsonBody"),
        ("query", {"content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "BadJsonBody"),
        ("query", {"json": []}, 400, "BadJsonBody"),
        ("query", {"json": {"args": {}}}, 400, "BadJsonBody"),
        ("query", {"json": {"path": "messages:list"}}, 400, "BadJsonBody"),
        ("query", {"json": {"path": 5, "args": {}}}, 400, "BadJsonBody"),
        ("query", {"json": {"path": "a-b:c", "args": {}}}, 400, "BadConvexFunctionIdentifier"),
        ("query", {"json": {"path": "a", "args": {}, "format": "xyz"}}, 400, "BadFormat"),
        (
            "query",
            {"json": {"path": "a", "args": {}}, "headers": {"Convex-Client": "npm"}},
            400,
            "InvalidClientVersion",
        ),
        ("run/messages", {"json": {"args": {}}}, 400, "MissingIdentifier"),
        ("function", {"json": {"path": "messages:list", "args": {}}}, 403, "BadDeployKey"),
        ("action", {"json": {"path": "_system/frontend/tableSize", "args": {}}}, 403, "SystemIdentityRequired"),
        ("query_at_ts", {"json": {"path": "a", "args": {}, "ts": "x"}}, 400, "BadJsonBody"),
        ("query_at_ts", {"json": {"path": "a", "args": {}, "ts": "/////////38="}}, 400, "BadJsonBody"),
        ("query_at_ts", {"json": {"path": "a", "args": {}, "ts": "AQAAAAAAAAA="}}, 503, "OutOfRetention"),
    ],
)
async def test_requests_that_make_no_sense_have_a_status(
    client: httpx2.AsyncClient, path: str, request_options: dict[str, Any], status: int, code: str
) -> None:
    response = await client.post(f"/api/{path}", **request_options)
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_a_missing_content_type_is_named(client: httpx2.AsyncClient) -> None:
    response = await client.post("/api/query", content=b"{}")
    assert response.json()["message"] == "Expected request with `Content-Type: application/json`"


async def test_any_function_can_be_run_by_its_address(client: httpx2.AsyncClient) -> None:
    for path, args, value in [
        ("messages/echo", {"value": 5}, 5.0),
        ("messages/default", {}, "default"),
        ("messages/sendTwice", {}, ["one", "two"]),
    ]:
        response = await client.post(f"/api/run/{path}", json={"args": args})
        assert response.json()["value"] == value
    hidden = await client.post("/api/run/messages/hidden", json={"args": {}})
    assert "Could not find function for 'messages:hidden'." in hidden.json()["errorMessage"]


async def test_administrators_run_any_function(admin: httpx2.AsyncClient) -> None:
    answer = await call(admin, "function", "messages:hidden", format="convex_encoded_json")
    assert answer == {"status": "success", "value": "hidden"}
    unknown = await call(admin, "function", "messages:nope")
    assert unknown["errorMessage"].endswith(
        "Could not find function for 'messages:nope'. Did you forget to run `npx convex dev`?\n"
    )
    component = await call(admin, "function", "public:get", componentPath="counter")
    assert "Could not find function for 'public:get' in 'counter'." in component["errorMessage"]
    system = await call(admin, "query", "_system/frontend/tableSize", {"tableName": "nope"})
    assert system["value"] == 0.0


@pytest.mark.parametrize("prefix", ["", "dev:"])
async def test_the_key_of_the_deployment_opens_what_is_internal(
    client: httpx2.AsyncClient, deployment: Deployment, prefix: str
) -> None:
    headers = {"Authorization": f"Convex {prefix}{deployment.admin_key}"}
    assert (await call(client, "query", "messages:hidden", headers=headers))["value"] == "hidden"


@pytest.mark.parametrize(
    ("authorization", "status", "code"),
    [
        ("Convex wrong", 401, "BadAdminKey"),
        ("Convex " + LOCAL_ADMIN_KEY, 401, "BadAdminKey"),
        ("Convex happy-animal-123|" + LOCAL_ADMIN_KEY, 401, "BadAdminKey"),
        ("short", 400, "InvalidHeaderFailure"),
        ("Basic dXNlcjpwYXNz", 400, "InvalidAdminKey"),
        ("Bearer nonsense", 401, "InvalidAuthHeader"),
    ],
)
async def test_a_bad_authorization_is_refused(
    client: httpx2.AsyncClient, authorization: str, status: int, code: str
) -> None:
    headers = {"Authorization": authorization}
    response = await client.post("/api/query", json={"path": "messages", "args": {}}, headers=headers)
    assert (response.status_code, response.json()["code"]) == (status, code)


async def test_an_administrator_may_act_as_a_user(client: httpx2.AsyncClient, deployment: Deployment) -> None:
    identity = {"issuer": "https://auth.example", "subject": "ada", "name": "Ada"}
    encoded = base64.b64encode(json.dumps(identity).encode()).decode()
    headers = {"Authorization": f"Convex {deployment.admin_key}:{encoded}"}
    assert (await call(client, "query", "messages:whoami", headers=headers))["value"] == "Ada"
    assert (await call(client, "function", "messages:hidden", headers=headers))["value"] == "hidden"
    system = await call(client, "query", "_system/frontend/tableSize", {"tableName": "x"}, headers=headers)
    assert "Operation query not permitted" in system["errorMessage"]


async def test_queries_can_be_asked_at_one_moment(client: httpx2.AsyncClient) -> None:
    await call(client, "mutation", "messages:send", {"channel": "past", "body": "old"})
    ts = (await client.post("/api/query_ts")).json()["ts"]
    await call(client, "mutation", "messages:send", {"channel": "past", "body": "new"})
    args = {"channel": "past"}
    assert (await call(client, "query_at_ts", "messages:list", args, ts=ts))["value"] == ["old"]
    queries = [{"path": "messages:list", "args": args}, {"path": "messages:nope", "args": {}}]
    batch = (await client.post("/api/query_batch", json={"queries": queries})).json()["results"]
    assert batch[0]["value"] == ["old", "new"]
    assert batch[1]["status"] == "error"


async def test_a_body_that_is_too_large_is_refused(client: httpx2.AsyncClient) -> None:
    body = {"path": "messages:echo", "args": {"value": "x" * (17 * 2**20)}}
    assert (await client.post("/api/query", json=body)).status_code == 413


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sdk_deployment(deploy: Any, esbuild_toolchain: Toolchain) -> AsyncIterator[Deployment]:
    sdk = esbuild_toolchain.packages.node_modules / "convex"
    async with Deployment.run(DeploymentSettings(sdk=sdk)) as running:
        await deploy(running)
        await running.mutation("messages:send", {"channel": "a", "body": "hi"})
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sdk_admin(sdk_deployment: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Convex {sdk_deployment.admin_key}"}
    async with httpx2.AsyncClient(base_url=sdk_deployment.url, headers=headers, timeout=60) as administrator:
        yield administrator


def body(source: str, **fields: object) -> dict[str, object]:
    bundle = {"path": "testQuery.js", "source": IMPORT + source}
    return {"args": {}, "bundle": bundle, "format": "convex_encoded_json", **fields}


async def run(client: httpx2.AsyncClient, source: str, **fields: object) -> Any:
    response = await client.post("/api/run_test_function", json=body(source, **fields))
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_query_can_bring_its_own_code(sdk_admin: httpx2.AsyncClient) -> None:
    source = """export default query({ handler: async (ctx) => {
      console.log("reading");
      const found = await ctx.db.query("messages").withIndex("by_channel", (q) => q.eq("channel", "a")).collect();
      return found.map((message) => message.body);
    }})"""
    assert await run(sdk_admin, source) == {"status": "success", "value": ["hi"], "logLines": ["[LOG] 'reading'"]}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("export default internalQuery(async () => 5n)", {"$integer": "BQAAAAAAAAA="}),
        ("export default query(async (ctx) => await ctx.auth.getUserIdentity())", None),
        ("export default query(async (ctx) => await ctx.runQuery('messages:list', {channel: 'a'}))", ["hi"]),
        ("export default query(async (ctx, {n}) => n)", 7.0),
    ],
)
async def test_it_runs_as_a_deployed_query_would(sdk_admin: httpx2.AsyncClient, source: str, value: object) -> None:
    assert (await run(sdk_admin, source, args={"n": 7}))["value"] == value


async def test_it_cannot_write(sdk_admin: httpx2.AsyncClient, sdk_deployment: Deployment) -> None:
    attempts = {
        "ctx.db.insert('messages', {channel: 'a', body: 'no', likes: 0})": "ctx.db.insert is not a function",
        "ctx.runMutation('messages:send', {channel: 'a', body: 'no'})": "ctx.runMutation is not a function",
        "Convex.asyncSyscall('1.0/insert', '{}')": "Unknown async operation 1.0/insert",
    }
    for attempt, text in attempts.items():
        answer = await run(sdk_admin, f"export default query(async (ctx) => await {attempt})")
        assert (answer["status"], text in answer["errorMessage"]) == ("error", True), answer
    assert (await sdk_deployment.query("messages:list", {"channel": "a"})).value == '["hi"]'


async def test_its_errors_are_those_of_a_function(sdk_admin: httpx2.AsyncClient) -> None:
    answer = await run(sdk_admin, "export default query(async () => { throw new Error('boom'); })")
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
async def test_code_that_is_not_a_query_is_refused(
    sdk_admin: httpx2.AsyncClient, source: str, code: str, text: str
) -> None:
    response = await sdk_admin.post("/api/run_test_function", json=body(source))
    assert (response.status_code, response.json()["code"]) == (400, code)
    assert text in response.json()["message"]


async def test_a_component_must_exist(sdk_admin: httpx2.AsyncClient) -> None:
    response = await sdk_admin.post(
        "/api/run_test_function", json=body("export default query(async () => 1)", componentId="x")
    )
    assert (response.status_code, response.json()["code"]) == (400, "InvalidComponentId")


async def test_only_administrators_may(sdk_deployment: Deployment) -> None:
    source = "export default query(async () => 1)"
    async with httpx2.AsyncClient(base_url=sdk_deployment.url, timeout=60) as client:
        assert (await client.post("/api/run_test_function", json=body(source))).status_code == 403
        assert (await client.post("/api/run_test_function", json=body(source, adminKey="x|y"))).status_code == 401
        assert (await run(client, source, adminKey=sdk_deployment.admin_key))["value"] == 1.0


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
