"""HTTP actions of a real deployment, asked by a real client."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.environment import write_paused
from convex_evals.backend.logs import Completion, LogEntry, Progress
from convex_evals.backend.push import PushRequest

APP = Path(__file__).parent / "app"
MEGABYTE = 1024 * 1024

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(deploy: Any) -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        await deploy(running, {"http.ts": (APP / "http.ts").read_text()})
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(deployment: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=deployment.site_url, timeout=60) as client:
        yield client


class Logs:
    """The entries that were written since the object was made."""

    def __init__(self, deployment: Deployment) -> None:
        self._log = deployment.log
        self._cursor = deployment.log.cursor

    async def until(self, condition: Callable[[list[LogEntry]], bool]) -> list[LogEntry]:
        async with asyncio.timeout(60):
            while not condition(entries := self._log.after(self._cursor).entries):
                await self._log.wait_after(self._log.cursor, 1)
        return entries

    async def completion(self) -> Completion:
        entries = await self.until(lambda entries: any(isinstance(entry, Completion) for entry in entries))
        return next(entry for entry in entries if isinstance(entry, Completion))

    async def lines(self) -> list[str]:
        await self.completion()
        found = [entry for entry in self._log.after(self._cursor).entries if isinstance(entry, Progress)]
        return [line.text for entry in found for line in entry.log_lines]


@pytest.fixture
def logs(deployment: Deployment) -> Logs:
    return Logs(deployment)


def failure_of(response: httpx2.Response) -> Any:
    assert (response.status_code, response.headers["content-type"]) == (500, "application/json")
    return response.json()


# ---------------------------------------------------------------------- requests


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_an_action_sees_the_request_as_it_was_sent(site: httpx2.AsyncClient, method: str) -> None:
    content = None if method in ("GET", "OPTIONS") else b"body"
    response = await site.request(method, "/describe?a=1&a=%20&b", content=content, headers={"X-Own": "value"})
    seen = response.json()
    assert (seen["method"], seen["body"]) == (method, content and "body")
    assert seen["url"] == f"{site.base_url}/describe?a=1&a=%20&b"
    headers = dict(seen["headers"])
    assert headers["x-own"] == "value"
    assert headers["host"] == urlsplit(str(site.base_url)).netloc


async def test_the_body_of_a_get_request_is_null(site: httpx2.AsyncClient) -> None:
    response = await site.request("GET", "/describe", content=b"ignored")
    assert response.json()["body"] is None


async def test_repeated_headers_all_arrive(site: httpx2.AsyncClient) -> None:
    response = await site.get("/describe", headers=[("X-Many", "1"), ("X-Many", "2")])
    assert dict(response.json()["headers"])["x-many"] == "1, 2"


async def test_urls_show_what_the_client_asked_for(deployment: Deployment, site: httpx2.AsyncClient) -> None:
    main = await site.get(f"{deployment.url}/http/describe")
    assert main.json()["url"] == f"{deployment.url}/describe"
    proxied = await site.get("/describe", headers={"X-Forwarded-Proto": "https", "Host": "app.localhost"})
    assert proxied.json()["url"] == "https://app.localhost/describe"


@pytest.mark.parametrize("path", ["/http", "/http/"])
async def test_the_root_of_the_main_ports_prefix_is_the_root(
    deployment: Deployment, site: httpx2.AsyncClient, path: str
) -> None:
    assert (await site.get(f"{deployment.url}{path}")).text == "root"


async def test_bodies_are_byte_exact_in_both_directions(site: httpx2.AsyncClient) -> None:
    content = bytes(range(256)) * 5000
    assert (await site.post("/echo", content=content)).content == content
    assert (await site.post("/duplex", content=content)).content == content


async def test_twenty_mebibytes_are_accepted_and_no_more(site: httpx2.AsyncClient) -> None:
    async def chunks(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield bytes(MEGABYTE)

    assert (await site.post("/length", content=chunks(20))).json() == 20 * MEGABYTE
    too_large = {
        "code": "RequestTooLarge",
        "message": "The request body is larger than 20971520 bytes",
    }
    declared = await site.post("/length", content=bytes(20 * MEGABYTE + 1))
    streamed = await site.post("/length", content=chunks(21))
    for response in (declared, streamed):
        assert (response.status_code, response.json()) == (413, too_large)
    assert (await site.post("/length", content=b"xyz")).json() == 3


async def test_an_action_need_not_read_the_body(site: httpx2.AsyncClient) -> None:
    assert (await site.post("/unread", content=bytes(MEGABYTE))).text == "did not look"


# ---------------------------------------------------------------------- responses


async def test_status_headers_and_cookies_are_the_apps(site: httpx2.AsyncClient) -> None:
    response = await site.get("/answer", headers={"Origin": "http://app.localhost"})
    assert (response.status_code, response.text) == (418, "teapot")
    assert response.headers.get_list("set-cookie") == ["a=1; Path=/", "b=2"]
    names = {name for name in response.headers if name != "transfer-encoding"}
    assert names == {"content-type", "set-cookie", "x-one"}


@pytest.mark.parametrize(
    ("path", "status", "headers", "text"),
    [
        ("/text", 200, {"content-type": "text/plain;charset=UTF-8"}, "plain"),
        ("/empty", 204, {}, ""),
        ("/redirect", 302, {"location": "/text"}, ""),
        ("/declared", 200, {"content-length": "5"}, "12345"),
        ("/long", 200, {"content-length": "5"}, "12345"),
        ("/forwarded", 200, {"transfer-encoding": "chunked"}, "hop"),
    ],
)
async def test_what_an_app_answers(
    site: httpx2.AsyncClient, path: str, status: int, headers: dict[str, str], text: str
) -> None:
    response = await site.get(path)
    assert (response.status_code, response.text) == (status, text)
    assert headers.items() <= dict(response.headers).items()
    assert (await site.get("/text")).text == "plain"


async def test_fewer_bytes_than_declared_end_the_connection(site: httpx2.AsyncClient) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        await site.get("/short")


async def test_head_is_the_get_route_without_its_body(site: httpx2.AsyncClient) -> None:
    response = await site.head("/declared")
    assert (response.status_code, response.content, response.headers["content-length"]) == (200, b"", "5")
    assert (await site.get("/text")).text == "plain"


async def test_a_response_ends_after_twenty_mebibytes(site: httpx2.AsyncClient, logs: Logs) -> None:
    response = await site.get("/huge")
    assert len(response.content) == 20 * MEGABYTE
    assert await logs.lines() == ["[ERROR] HttpResponseTooLarge: HTTP actions support responses up to 20 MiB"]


# ---------------------------------------------------------------------- routes


async def test_a_prefix_takes_everything_below_it(site: httpx2.AsyncClient) -> None:
    assert (await site.get("/files/a%2Fb/c")).text == "/files/a%2Fb/c"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/nowhere"), ("OPTIONS", "/text"), ("POST", "/text"), ("GET", "/text/"), ("GET", "/files")],
)
async def test_what_matches_no_route_is_not_found(site: httpx2.AsyncClient, method: str, path: str) -> None:
    response = await site.request(method, path, headers={"Origin": "http://app.localhost"})
    assert (response.status_code, response.text) == (404, "No matching routes found")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("method", ["TRACE", "PROPFIND"])
async def test_methods_without_routes_are_not_allowed(site: httpx2.AsyncClient, method: str) -> None:
    response = await site.request(method, "/text")
    assert (response.status_code, response.content) == (405, b"")


async def test_a_deployment_without_http_js_says_so(site: httpx2.AsyncClient) -> None:
    async with Deployment.start() as empty:
        response = await site.get(f"{empty.site_url}/text")
    assert response.status_code == 404
    assert response.text == "This Convex deployment does not have HTTP actions enabled."


# ---------------------------------------------------------------------- errors


async def test_an_error_is_a_500_with_code_and_trace(site: httpx2.AsyncClient) -> None:
    failure = failure_of(await site.get("/throws", headers={"Convex-Request-Id": "feedfacefeedface"}))
    assert failure["code"] == "[Request ID: feedfacefeedface] Server Error: Uncaught Error: boom"
    assert failure["trace"].startswith("Uncaught Error: boom\n    at ")
    assert "convex/http.ts:" in failure["trace"]
    assert "data" not in failure


async def test_a_convex_error_carries_its_data(site: httpx2.AsyncClient) -> None:
    failure = failure_of(await site.get("/refuses"))
    assert failure["data"] == {"reason": "no", "count": 1.0}
    assert "Uncaught ConvexError: " in failure["code"]


async def test_an_answer_that_is_not_a_response_is_an_error(site: httpx2.AsyncClient) -> None:
    assert "HTTP actions must return a Response" in failure_of(await site.get("/nothing"))["code"]


async def test_an_error_after_the_head_ends_the_body(site: httpx2.AsyncClient, logs: Logs) -> None:
    response = await site.get("/late")
    assert (response.status_code, response.content) == (200, b"aaa")
    completion = await logs.completion()
    assert completion.error is not None and completion.error.startswith("Uncaught Error: too late")


async def test_a_paused_deployment_runs_nothing(deployment: Deployment, site: httpx2.AsyncClient) -> None:
    _pause(deployment, True)
    try:
        failure = failure_of(await site.get("/text"))
    finally:
        _pause(deployment, False)
    assert "Server Error: Cannot run functions while this deployment is paused." in failure["code"]


def _pause(deployment: Deployment, paused: bool) -> None:
    transaction = deployment.database.begin()
    write_paused(transaction, paused)
    deployment.database.commit(transaction)


async def test_a_deployment_that_redacts_shows_administrators_more(deploy: Any, site: httpx2.AsyncClient) -> None:
    async with Deployment.start(redact=True) as redacting:
        await deploy(redacting, {"http.ts": (APP / "http.ts").read_text()})
        url, headers = f"{redacting.site_url}/refuses", {"Convex-Request-Id": "r1"}
        shown = failure_of(await site.get(url, headers=headers))
        assert shown == {"code": "[Request ID: r1] Server Error", "data": {"reason": "no", "count": 1.0}}
        admin = failure_of(await site.get(url, headers={"Authorization": f"Convex {redacting.admin_key}"}))
        assert "trace" in admin


# ---------------------------------------------------------------------- who calls


@pytest.mark.parametrize("header", ["x", "Basic dXNlcjpwYXNz", "Bearer nonsense", "Convex nonsense"])
async def test_a_bad_authorization_header_only_matters_where_it_is_read(site: httpx2.AsyncClient, header: str) -> None:
    headers = {"Authorization": header}
    assert (await site.get("/anyone", headers=headers)).text == "welcome"
    assert "Uncaught Error: " in failure_of(await site.get("/whoami", headers=headers))["code"]


async def test_without_a_header_the_caller_is_anonymous(site: httpx2.AsyncClient) -> None:
    assert (await site.get("/whoami")).json() is None


# ---------------------------------------------------------------------- clients that go away


async def test_the_signal_fires_when_the_client_leaves_before_the_response(
    deployment: Deployment, site: httpx2.AsyncClient, logs: Logs
) -> None:
    target = urlsplit(deployment.site_url)
    with socket.create_connection((target.hostname or "", target.port or 0)) as connection:
        connection.sendall(b"GET /waits HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await logs.until(lambda entries: any(isinstance(entry, Progress) for entry in entries))
    assert await logs.lines() == ["[LOG] 'waiting'", "[LOG] 'aborted'"]
    assert (await logs.completion()).http_status == "200"


async def test_the_signal_fires_when_the_client_leaves_during_the_response(
    site: httpx2.AsyncClient, logs: Logs
) -> None:
    async with site.stream("GET", "/endless") as response:
        assert [chunk async for chunk in _first(response.aiter_raw(), 2)] == [b"aaa", b"aaa"]
    assert await logs.lines() == ["[LOG] 'aborted'"]


async def test_an_action_never_takes_half_a_body_for_a_whole_one(
    deployment: Deployment, site: httpx2.AsyncClient, logs: Logs
) -> None:
    target = urlsplit(deployment.site_url)
    with socket.create_connection((target.hostname or "", target.port or 0)) as connection:
        connection.sendall(b"POST /store HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
        await asyncio.sleep(0.3)
    completion = await logs.completion()
    assert (completion.http_status, completion.error) == (
        None,
        "408 ClientDisconnected: The client went away before the end of its request",
    )
    assert deployment.database.begin().count("", "_storage") == 0


async def _first(chunks: AsyncIterator[bytes], count: int) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
        count -= 1
        if count == 0:
            return


# ---------------------------------------------------------------------- the rest of the deployment


async def test_files_go_in_and_out(site: httpx2.AsyncClient) -> None:
    content = bytes(range(256)) * 100
    stored = (await site.post("/store", content=content, headers={"Content-Type": "image/png"})).json()
    served = await site.get(stored["url"])
    assert (served.content, served.headers["content-type"]) == (content, "image/png")
    response = await site.get("/stored", params={"id": stored["id"]})
    assert (response.content, response.headers["content-type"]) == (content, "image/png")


@pytest.mark.parametrize(
    ("method", "path", "identifier", "status"),
    [
        ("GET", "/answer?x=1", "GET /answer", "418"),
        ("HEAD", "/text", "HEAD /text", "200"),
        ("GET", "/files/a/b", "GET /files/*", "200"),
        ("GET", "/throws", "GET /throws", "500"),
        ("GET", "/nowhere", "GET /nowhere", "404"),
    ],
)
async def test_every_request_is_in_the_log(
    site: httpx2.AsyncClient, logs: Logs, method: str, path: str, identifier: str, status: str
) -> None:
    await site.request(method, path)
    entry = (await logs.completion()).to_json(structured=True)
    assert (entry["udfType"], entry["identifier"], entry["caller"]) == ("HttpAction", identifier, "HttpEndpoint")
    assert entry["success"] == {"status": status}


async def test_chunks_arrive_when_they_are_written(site: httpx2.AsyncClient) -> None:
    started = time.monotonic()
    async with site.stream("GET", "/endless") as response:
        async for _ in _first(response.aiter_raw(), 3):
            pass
    assert 0.03 < time.monotonic() - started < 60


async def test_components_answer_where_they_are_mounted(bundle: Any, site: httpx2.AsyncClient) -> None:
    source = """
import { httpActionGeneric, httpRouter } from "convex/server";
const http = httpRouter();
http.route({ method: "GET", pathPrefix: "/", handler: httpActionGeneric(async (ctx, request) =>
  Response.json([NAME, request.url, await ctx.auth.getUserIdentity()])) });
export default http;
"""
    child = {"type": "childComponent", "name": "counter"}
    component = {
        "definitionPath": "counter",
        "definition": _config({"definitionType": child}),
        "dependencies": [],
        "schema": None,
        "functions": bundle({"http.ts": source.replace("NAME", '"component"')}),
        "udfServerVersion": "1.44.0",
    }
    app = {
        "definition": _config(
            {
                "childComponents": [{"name": "mounted", "path": "counter", "args": [], "env": []}],
                "httpMounts": {"/counter/": "_reference/childComponent/mounted"},
                "httpPrefix": "/api/",
            }
        ),
        "dependencies": ["counter"],
        "schema": None,
        "changedModules": bundle({"http.ts": source.replace("NAME", '"app"')}),
        "udfServerVersion": "1.44.0",
    }
    async with Deployment.start() as deployment:
        request = PushRequest.parse({"appDefinition": app, "componentDefinitions": [component]})
        started = await deployment.pusher.start(request)
        await deployment.pusher.finish(started, dry_run=False)
        for path, name in {"/counter/a/b": "component", "/api/a": "app"}.items():
            url = f"{deployment.site_url}{path}"
            assert (await site.get(url)).json() == [name, url, None]
        assert (await site.get(f"{deployment.site_url}/elsewhere")).text == "No matching routes found"
        acting = {"Authorization": "Bearer nonsense"}
        assert (await site.get(f"{deployment.site_url}/counter/x", headers=acting)).status_code == 200
        assert (await site.get(f"{deployment.site_url}/api/x", headers=acting)).status_code == 500


def _config(metadata: dict[str, object]) -> dict[str, object]:
    source = f"export default {{ export: () => ({json.dumps(metadata)}) }};"
    return {"path": "convex.config.js", "source": source, "environment": "isolate"}
