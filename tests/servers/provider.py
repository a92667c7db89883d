"""A provider of models on this machine, which misbehaves on demand.

It speaks as OpenAI does (chat completions, responses, models), listens on a port of 127.0.0.1 and runs in a thread of
its own, so that tests may also start programs that ask it. Every question is answered by the next behaviour of the
script; when there is none left, by `answer`.
"""

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

START_SECONDS = 60
FOREVER = 3600.0
EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Asked:
    """A question as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    began: float

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def prompt(self) -> str:
        """What the user says, without the system's part."""
        said = self.body.get("messages") or self.body.get("input") or self.body.get("contents") or []
        return "".join(_text(each.get("content", each.get("parts"))) for each in said if each.get("role") == "user")


Behaviour = Callable[[Asked], Awaitable[Response]]


@dataclass
class ProviderServer:
    """`requests` has every question so far. `answer` makes the text of an ordinary answer from the question."""

    answer: Callable[[Asked], str] = lambda asked: "Hello."
    requests: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    port: int = 0
    listed: Sequence[Mapping[str, Any]] = ({"id": "tiny", "object": "model", "owned_by": "tests"},)
    _script: deque[Behaviour] = field(default_factory=deque)
    _now: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *behaviours: Behaviour) -> None:
        """How the next questions are answered, one behaviour each."""
        self._script.extend(behaviours)

    def forget(self) -> None:
        """The rest of the script."""
        self._script.clear()

    # What an answer may be like

    def says(self, text: str, finish: str | None = "stop", **changes: Any) -> Behaviour:
        """An answer in pieces. `usage` replaces what is said about tokens (None: nothing), `extra` goes into chunks."""

        async def behave(asked: Asked) -> Response:
            return _stream(_answer(asked, text, finish, **changes))

        return behave

    def sends(self, body: bytes | str, media_type: str = EVENTS, status: int = 200, **headers: str) -> Behaviour:
        """These very bytes."""

        async def behave(asked: Asked) -> Response:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return Response(body, status, named, media_type)

        return behave

    def refuses(self, status: int, message: str = "no", code: str | None = None, **headers: str) -> Behaviour:
        """An error as OpenAI reports it."""
        body = {"error": {"message": message, "type": code, "code": code}}
        return self.sends(json.dumps(body), "application/json", status, **headers)

    def echoes(self, status: int) -> Behaviour:
        """An error that repeats the headers of the request."""

        async def behave(asked: Asked) -> Response:
            return JSONResponse({"error": {"message": f"Bad request with {dict(asked.headers)}"}}, status)

        return behave

    def hangs(self) -> Behaviour:
        """Nothing comes, not even a status."""

        async def behave(asked: Asked) -> Response:
            await asyncio.sleep(FOREVER)
            return PlainTextResponse("too late")

        return behave

    def stalls(self, text: str = "Half an ans", *, after: int | None = None) -> Behaviour:
        """The answer begins, and then nothing comes any more."""
        return self._breaks_off(text, after, lambda: asyncio.sleep(FOREVER))

    def cuts(self, text: str = "Half an ans", *, after: int | None = None) -> Behaviour:
        """The answer begins, and then the connection is gone."""
        return self._breaks_off(text, after, _cut)

    def ends_early(self, text: str = "Half an ans") -> Behaviour:
        """The answer begins, and then its stream ends in good order, without a word why."""
        return self._breaks_off(text, None, lambda: asyncio.sleep(0))

    def _breaks_off(self, text: str, after: int | None, then: Callable[[], Awaitable[None]]) -> Behaviour:
        async def pieces(asked: Asked) -> AsyncIterator[str]:
            for number, piece in enumerate(_beginning(asked, text)):
                if number == after:
                    break
                yield piece
            await then()

        async def behave(asked: Asked) -> Response:
            return StreamingResponse(pieces(asked), media_type=EVENTS)

        return behave

    # Serving

    async def respond(self, request: Request) -> Response:
        body = await request.body()
        asked = Asked(request.url.path, dict(request.headers), json.loads(body or b"{}"), time.monotonic())
        self.requests.append(asked)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            if self._script:
                return await self._script.popleft()(asked)
            return await self.says(self.answer(asked))(asked)
        finally:
            self._now -= 1

    async def list_models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": list(self.listed)})

    def application(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self.list_models),
                Route("/{path:path}", self.respond, methods=["POST"]),
            ]
        )


async def _cut() -> None:
    """uvicorn hangs up when an application fails in the middle of a response."""
    raise ConnectionAbortedError


@contextmanager
def serve_provider() -> Iterator[ProviderServer]:
    provider = ProviderServer()
    config = uvicorn.Config(
        provider.application(), host="127.0.0.1", port=0, log_config=None, log_level="critical", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        assert thread.is_alive() and time.monotonic() < deadline, "the provider did not start"
        time.sleep(0.005)
    provider.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield provider
    finally:
        server.should_exit = server.force_exit = True
        thread.join(START_SECONDS)


# The formats

TOKENS = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def _answer(
    asked: Asked,
    text: str,
    finish: str | None,
    usage: Mapping[str, Any] | None = TOKENS,
    extra: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    if asked.path.endswith("/responses"):
        yield from _response_events(asked, text, finish)
        return
    yield from _beginning(asked, text, extra)
    yield _chunk(asked, {}, finish, extra)
    if usage is not None:
        yield _event({**_chunk_fields(asked), **(extra or {}), "choices": [], "usage": dict(usage)})
    yield "data: [DONE]\n\n"


def _beginning(asked: Asked, text: str, extra: Mapping[str, Any] | None = None) -> Iterator[str]:
    if asked.path.endswith("/responses"):
        yield from _response_beginning(asked, text)
        return
    yield _chunk(asked, {"role": "assistant", "content": ""}, None, extra)
    for piece in _pieces(text):
        yield _chunk(asked, {"content": piece}, None, extra)


def _chunk(asked: Asked, delta: Mapping[str, Any], finish: str | None, extra: Mapping[str, Any] | None) -> str:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return _event({**_chunk_fields(asked), **(extra or {}), "choices": [choice]})


def _chunk_fields(asked: Asked) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": asked.model}


def _response_beginning(asked: Asked, text: str) -> Iterator[str]:
    yield _typed("response.created", response=_response(asked, "in_progress", []))
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    yield _typed("response.output_item.added", output_index=0, item=item)
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield _typed("response.content_part.added", **place, part=empty)
    for piece in _pieces(text):
        yield _typed("response.output_text.delta", **place, delta=piece, logprobs=[])


def _response_events(asked: Asked, text: str, finish: str | None) -> Iterator[str]:
    yield from _response_beginning(asked, text)
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    yield _typed("response.output_item.done", output_index=0, item=item)
    usage = {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 18,
    }
    if finish == "stop":
        yield _typed("response.completed", response=_response(asked, "completed", [item], usage=usage))
    else:
        why = {"reason": finish}
        ended = _response(asked, "incomplete", [item], usage=usage, incomplete_details=why)
        yield _typed("response.incomplete", response=ended)


def _response(asked: Asked, status: str, output: list[Any], **more: Any) -> dict[str, Any]:
    fields = {"id": "resp_1", "object": "response", "created_at": 1, "model": asked.model, "parallel_tool_calls": False}
    return {**fields, "status": status, "output": output, "tool_choice": "auto", "tools": [], **more}


def _typed(kind: str, **fields: Any) -> str:
    return f"event: {kind}\n{_event({'type': kind, 'sequence_number': 0, **fields})}"


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _pieces(text: str) -> Iterator[str]:
    size = max(3, len(text) // 20)
    return (text[start : start + size] for start in range(0, len(text), size))


def _stream(pieces: Iterator[str]) -> Response:
    return StreamingResponse(pieces, media_type=EVENTS)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])
