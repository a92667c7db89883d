"""Reading request bodies and query strings into typed fields, with the texts clients know."""

from collections.abc import Mapping
from typing import TypeVar

import orjson
from starlette.requests import Request

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.limits import FUNCTION_BODY_BYTES

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


async def read_json(request: Request, limit: int = FUNCTION_BODY_BYTES) -> Fields:
    if not is_json(request.headers.get("content-type", "")):
        raise RequestError(400, "BadJsonBody", "Expected request with `Content-Type: application/json`")
    body = await read_bytes(request, limit)
    try:
        json = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(400, "BadJsonBody", f"Failed to parse the request body as JSON: {error}") from error
    if not isinstance(json, dict):
        raise RequestError(400, "BadJsonBody", "Failed to deserialize the JSON body: expected an object")
    return Fields(json, "BadJsonBody")


async def read_bytes(request: Request, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise RequestError(413, "BadJsonBody", f"The request body is larger than {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def is_json(content_type: str) -> bool:
    kind, _, subtype = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subtype == "json" or subtype.endswith("+json"))


def query_fields(request: Request) -> Fields:
    return Fields(request.query_params, "BadQueryArgs", "Failed to deserialize query string: ")
