"""HTTP actions: routing, bodies that stream both ways, failures before and after the head."""

import asyncio
from typing import Any

import orjson
import pytest

from convex_evals.backend.deployed import Module
from convex_evals.backend.runtime import HttpRequestHead

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any


async def read(answer: Any) -> Any:
    return b"".join([chunk async for chunk in answer.body])


def router(body: str) -> Any:
    """An `http.js` without the SDK, whose handler has this body."""
    source = f"""
        export default {{
            isRouter: true,
            lookup: (path, method) => [null, method, path],
            runRequest: async (text, path) => {{
                const request = Convex.jsSyscall("requestFromConvexJson", {{ convexJson: JSON.parse(text) }});
                const response = await (async (request) => {{ {body} }})(request);
                return JSON.stringify(Convex.jsSyscall("convexJsonFromResponse", {{ response }}));
            }},
        }};
    """
    return {"http.js": Module("http.js", source, None, "isolate")}


async def test_status_headers_and_binary_body_arrive_as_given(stage: Stage) -> None:
    body = bytes(range(256)) * 1000
    answer = await stage.http("POST", "/echo?q=1", body)
    assert answer.head.status == 201
    assert dict(answer.head.headers) == {"x-method": "POST", "x-url": "http://127.0.0.1:3211/echo?q=1"}
    assert await read(answer) == body
    assert (await answer.outcome()).failure is None


async def test_a_body_streams_in_chunks(stage: Stage) -> None:
    answer = await stage.http("GET", "/stream")
    assert answer.head.headers == (("x-body", "null"),)
    assert [chunk async for chunk in answer.body] == [b"chunk 0\n", b"chunk 1\n", b"chunk 2\n"]


async def test_a_request_body_streams_while_it_arrives(stage: Stage) -> None:
    stage.deploy(router("let n = 0; for await (const chunk of request.body) n++; return new Response(String(n));"))
    release = asyncio.Event()

    async def slow_body() -> Any:
        yield b"first"
        await release.wait()
        yield b"second"

    execution = stage.execution("http:default", kind="httpAction", total_seconds=20.0)
    head = HttpRequestHead("POST", "http://a/x", "/x")
    task = asyncio.create_task(stage.runtime.run_http(execution, None, head, slow_body()))
    await asyncio.sleep(0.2)
    release.set()
    assert await read(await task) == b"2"


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [("/files/a/b", 200, b"/files/a/b"), ("/nope", 404, b"No matching routes found")],
)
async def test_routes_are_found_or_not(stage: Stage, path: str, status: int, body: str) -> None:
    answer = await stage.http("GET", path)
    assert answer.head.status == status
    assert await read(answer) == body


async def test_head_is_served_by_get(stage: Stage) -> None:
    assert (await stage.http("HEAD", "/files/x")).head.status == 200


async def test_form_data_with_a_file(stage: Stage) -> None:
    form = (
        b'--B\r\nContent-Disposition: form-data; name="name"\r\n\r\nAnn\r\n'
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\nhi\r\n--B--\r\n"
    )
    answer = await stage.http("POST", "/form", form, (("content-type", "multipart/form-data; boundary=B"),))
    assert orjson.loads(await read(answer)) == {"name": "Ann", "file": "a.txt", "type": "text/plain", "text": "hi"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/throw", "Uncaught Error: http boom\n    at ../convex/http.ts:55:10\n"),
        ("/nothing", "Uncaught Error: HTTP actions must return a Response\n"),
    ],
)
async def test_a_failure_before_the_head_is_in_the_outcome(stage: Stage, path: str, message: str) -> None:
    answer = await stage.http("GET", path)
    assert answer.head is None
    assert (await answer.outcome()).failure.message.startswith(message)


async def test_a_failure_after_the_head_ends_the_body(stage: Stage) -> None:
    stage.deploy(
        router(
            "let n = 0; const pull = (c) => { if (n++) throw new Error('mid'); c.enqueue(new Uint8Array(1)); };"
            "return new Response(new ReadableStream({ pull }));"
        )
    )
    answer = await stage.http("GET", "/x")
    assert answer.head.status == 200
    assert await read(answer) == b"\0"
    assert (await answer.outcome()).failure.message.startswith("Uncaught Error: mid\n")


async def test_a_response_that_is_too_large_is_cut_and_logged(stage: Stage) -> None:
    stage.deploy(
        router(
            "let n = 0; const pull = (c) => { if (n++ === 6) c.close(); else c.enqueue(new Uint8Array(4 * 2 ** 20)); };"
            "return new Response(new ReadableStream({ pull }));"
        )
    )
    answer = await stage.http("GET", "/x")
    assert len(await read(answer)) == 20 * 2**20
    (line,) = (await answer.outcome()).log_lines
    assert line.text == "[ERROR] HttpResponseTooLarge: HTTP actions support responses up to 20 MiB"


async def test_a_client_that_leaves_is_noticed(stage: Stage) -> None:
    stage.deploy(router("""
        const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
        const body = new ReadableStream({ pull: async (c) => { c.enqueue(new Uint8Array(1)); await pause(); } });
        request.signal.addEventListener("abort", () => console.log("gone"));
        return new Response(body);
    """))  # fmt: skip
    answer = await stage.http("GET", "/x")
    assert await anext(aiter(answer.body)) == b"\0"
    answer.abort()
    outcome = await answer.outcome()
    assert [line.text for line in outcome.log_lines] == ["[LOG] 'gone'"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("export const x = 1;", 'Couldn\'t find default export in module "http.js".'),
        ("export default {};", "The default export of `convex/http.js` is not a Router."),
    ],
)
async def test_a_module_without_a_router_is_refused(stage: Stage, source: str, message: str) -> None:
    stage.deploy({"http.js": Module("http.js", source, None, "isolate")})
    answer = await stage.http("GET", "/x")
    assert answer.head is None
    assert (await answer.outcome()).failure.message == message


async def test_set_cookie_headers_stay_apart(stage: Stage) -> None:
    stage.deploy(
        router(
            "const headers = [['set-cookie', 'a=1'], ['set-cookie', 'b=2']]; return new Response(null, { headers });"
        )
    )
    answer = await stage.http("GET", "/x")
    assert answer.head.headers == (("set-cookie", "a=1"), ("set-cookie", "b=2"))
