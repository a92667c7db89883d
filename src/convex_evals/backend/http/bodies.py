"""The bodies of requests (typed fields, within limits; `core/http` has the other limits) and those of responses.

Messages are those that clients know. Functions and pages are clients like any other.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Final, TypeVar

import brotli
import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive

from convex_evals.backend.errors import RequestError
from convex_evals.core.files import MEBIBYTE

FUNCTION_BODY_BYTES: Final = 16 * MEBIBYTE + 2000
HTTP_ACTION_BODY_BYTES: Final = 20 * MEBIBYTE
PUSH_BYTES: Final = 200 * MEBIBYTE  # after decoding, and only from administrators
UPLOAD_BYTES: Final = 1024 * MEBIBYTE

T = TypeVar("T")


class Fields:
    """A JSON object from outside: asks for fields by name and type, and says what is wrong in the parser's words."""

    def __init__(self, json: Mapping[str, object], code: str, prefix: str = "") -> None:
        self._json = json
        self._code = code
        self._prefix = prefix

    def text(self, name: str) -> str:
        return self._typed(name, self._required(name), str, "a string")

    def optional_text(self, name: str) -> str | None:
        value = self._json.get(name)
        return None if value is None else self._typed(name, value, str, "a string")

    def anything(self, name: str) -> object:
        return self._required(name)

    def nested(self, name: str) -> "Fields":
        return Fields(self._typed(name, self._required(name), dict, "a map"), self._code)

    def items(self, name: str) -> "list[Fields]":
        items = self._typed(name, self._required(name), list, "a sequence")
        return [Fields(self._typed(name, item, dict, "a map"), self._code) for item in items]

    def texts(self, name: str) -> list[str]:
        items = self._typed(name, self._required(name), list, "a sequence")
        return [self._typed(name, item, str, "a string") for item in items]

    def optional_number(self, name: str) -> float | None:
        value = self._json.get(name)
        return None if value is None else float(self._typed(name, value, (int, float), "a number"))

    def _required(self, name: str) -> object:
        if name not in self._json:
            raise self._error(f"missing field `{name}`")
        return self._json[name]

    def _typed(self, name: str, value: object, kind: type[T] | tuple[type[T], ...], expected: str) -> T:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self._error(f"{name}: invalid type, expected {expected}")
        return value

    def _error(self, text: str) -> RequestError:
        return RequestError(400, self._code, self._prefix + text)


def query_fields(request: Request) -> Fields:
    return Fields(request.query_params, "BadQueryArgs", "Failed to deserialize query string: ")


async def read_json(request: Request) -> Fields:
    _check_json(request)
    return Fields(_parse_object(await read_bytes(request, FUNCTION_BODY_BYTES)), "BadJsonBody")


async def read_encoded_json(request: Request, limit: int = PUSH_BYTES) -> dict[str, object]:
    """The CLI compresses what it pushes with brotli. `limit` holds before and after decoding."""
    _check_json(request)
    body = await read_bytes(request, limit)
    return _parse_object(decode(body, request.headers.get("content-encoding", "identity"), limit))


async def read_bytes(request: Request, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise body_too_large(limit, "BadJsonBody")
        chunks.append(chunk)
    return b"".join(chunks)


def is_json(content_type: str) -> bool:
    kind, _, subtype = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subtype == "json" or subtype.endswith("+json"))


def _check_json(request: Request) -> None:
    if not is_json(request.headers.get("content-type", "")):
        raise RequestError(400, "BadJsonBody", "Expected request with `Content-Type: application/json`")


def _parse_object(body: bytes) -> dict[str, object]:
    try:
        json = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(400, "BadJsonBody", f"Failed to parse the request body as JSON: {error}") from error
    if not isinstance(json, dict):
        raise RequestError(400, "BadJsonBody", "Failed to deserialize the JSON body: expected an object")
    return json


def decode(body: bytes, encoding: str, limit: int = PUSH_BYTES) -> bytes:
    match encoding.strip().lower():
        case "identity" | "":
            return body
        case "br":
            return _decode_brotli(body, limit)
        case "gzip" | "deflate":
            return _decode_zlib(body, limit)
        case other:
            raise RequestError(415, "UnsupportedContentEncoding", f"Content-Encoding {other} is not supported")


def _decode_brotli(body: bytes, limit: int) -> bytes:
    decompressor = brotli.Decompressor()
    try:
        decoded = decompressor.process(body, output_buffer_limit=limit + 1)
        if not decompressor.is_finished() and len(decoded) <= limit:
            raise _malformed("br")
    except brotli.error as error:
        raise _malformed("br") from error
    return _checked(decoded, limit)


def _decode_zlib(body: bytes, limit: int) -> bytes:
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # recognizes gzip and zlib headers
    try:
        decoded = decompressor.decompress(body, limit + 1)
    except zlib.error as error:
        raise _malformed("gzip") from error
    if not decompressor.eof and len(decoded) <= limit:
        raise _malformed("gzip")
    return _checked(decoded, limit)


def _checked(decoded: bytes, limit: int) -> bytes:
    if len(decoded) > limit:
        raise body_too_large(limit, "BadJsonBody")
    return decoded


def _malformed(encoding: str) -> RequestError:
    return RequestError(400, "BadJsonBody", f"The request body is not valid for Content-Encoding {encoding}")


def body_too_large(limit: int, code: str = "RequestTooLarge") -> RequestError:
    return RequestError(413, code, f"The request body is larger than {limit} bytes")


class IncomingBody:
    """A body while it arrives. `disconnected` is set when the client leaves, as long as `chunks` or `watch` runs."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._complete = asyncio.Event()
        self.disconnected = asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Raises RequestError: 413 for more than `limit` bytes, 408 when the client leaves before the end."""
        size = 0
        while True:
            message = await self._next()
            if self.disconnected.is_set():
                raise RequestError(408, "ClientDisconnected", "The client went away before the end of its request")
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > self._limit:
                raise body_too_large(self._limit)
            if chunk:
                yield chunk
            if not message.get("more_body", False):
                self._complete.set()
                return

    async def watch(self, *, after_body: bool) -> None:
        """Waits for the client to leave; with `after_body`, only once `chunks` has read the whole body."""
        if after_body:
            await self._complete.wait()
        while not self.disconnected.is_set():
            await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.disconnected.set()
        return message


def json_response(content: object) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")


def envelope(error: RequestError) -> Response:
    body = orjson.dumps({"code": error.code, "message": error.message})
    return Response(body, error.status, media_type="application/json")
