"""Values that are too deep or too large, wherever they can come in."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

Join = Callable[[Deployment], Awaitable[Any]]

MEGABYTE = 1024 * 1024
TOO_DEEP = "Value is too nested (nested 65 levels deep > maximum nesting 64)"


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def body(path: str, value: str) -> str:
    return f'{{"path": "{path}", "args": {{"value": {value}}}, "format": "convex_encoded_json"}}'


@pytest_asyncio.fixture(loop_scope="module")
async def http(shared: Deployment) -> Any:
    headers = {"Content-Type": "application/json"}
    async with httpx2.AsyncClient(base_url=shared.url, headers=headers, timeout=60) as client:
        yield client


async def answer(http: httpx2.AsyncClient, kind: str, path: str, value: str) -> Any:
    response = await http.post(f"/api/{kind}", content=body(path, value))
    assert response.status_code == 200, response.text
    return response.json()


async def test_arguments_may_be_64_levels_deep(http: httpx2.AsyncClient) -> None:
    deepest = await answer(http, "query", "notes:echo", deep(62))
    assert deepest["value"] == json.loads(deep(62))


@pytest.mark.parametrize("levels", [65, 200, 1_000])
async def test_arguments_that_are_nested_too_deep_are_refused(http: httpx2.AsyncClient, levels: int) -> None:
    refused = await answer(http, "query", "notes:echo", deep(levels))
    assert "Invalid arguments for notes.js:echo: Value is too nested (nested" in refused["errorMessage"]


async def test_json_that_no_parser_takes_is_a_bad_request(http: httpx2.AsyncClient) -> None:
    response = await http.post("/api/query", content=body("notes:echo", deep(500_000)))
    assert (response.status_code, response.json()["code"]) == (400, "BadJsonBody")


async def test_results_that_are_nested_too_deep_are_refused(shared: Deployment) -> None:
    assert (await shared.query("notes:nested", {"levels": 64.0})).succeeded
    for levels in (65.0, 300.0, 100_000.0):
        outcome = await shared.query("notes:nested", {"levels": levels})
        assert outcome.failure is not None
        assert "too nested" in outcome.failure.message or "Maximum call stack" in outcome.failure.message


async def test_documents_that_are_nested_too_deep_are_refused(http: httpx2.AsyncClient) -> None:
    assert (await answer(http, "mutation", "notes:keep", deep(15)))["status"] == "success"
    refused = await answer(http, "mutation", "notes:keep", deep(16))
    assert "Document is too nested (nested 17 levels deep > maximum nesting 16)" in refused["errorMessage"]


async def test_a_document_of_two_megabytes_is_refused(http: httpx2.AsyncClient) -> None:
    kept = await answer(http, "mutation", "notes:keep", json.dumps("x" * (MEGABYTE - 200)))
    assert kept["status"] == "success"
    refused = await answer(http, "mutation", "notes:keep", json.dumps("x" * 2 * MEGABYTE))
    assert "Value is too large (2 MiB > maximum size 1 MiB)" in refused["errorMessage"]


async def test_arguments_and_results_have_a_limit(http: httpx2.AsyncClient, shared: Deployment) -> None:
    response = await http.post("/api/query", content=body("notes:echo", json.dumps("x" * 17 * MEGABYTE)))
    assert response.status_code == 413
    outcome = await shared.query("notes:big", {"characters": 17.0 * MEGABYTE})
    assert outcome.failure is not None
    assert "return value is too large (actual: 17 MiB, limit: 16 MiB)" in outcome.failure.message


async def test_a_socket_refuses_them_like_http(shared: Deployment, join: Join) -> None:
    client = await join(shared)
    for number, value in enumerate([deep(65), deep(900), json.dumps("x" * 2 * MEGABYTE)]):
        frame = f'{{"type":"Mutation","requestId":{number},"udfPath":"notes:keep","args":[{{"value":{value}}}]}}'
        await client.connection.send(frame)
        response = await client.receive("MutationResponse")
        assert (response["requestId"], response["success"]) == (number, False)
        assert "too nested" in response["result"] or "too large" in response["result"]


@pytest.mark.parametrize("lone", ['"\\ud800"', '{"\\udfff": 1}'])
async def test_text_that_is_not_unicode_is_refused(http: httpx2.AsyncClient, lone: str) -> None:
    response = await http.post("/api/query", content=body("notes:echo", lone))
    assert response.status_code == 400


@pytest.mark.parametrize(
    "value",
    ['{"$integer": "AA=="}', '{"$integer": 5}', '{"$float": "x"}', '{"$bytes": "?"}', '{"$what": 1}', '{"é": 1}'],
)
async def test_invalid_values_are_refused(http: httpx2.AsyncClient, value: str) -> None:
    refused = await answer(http, "query", "notes:echo", value)
    assert "Invalid arguments for notes.js:echo: " in refused["errorMessage"]
