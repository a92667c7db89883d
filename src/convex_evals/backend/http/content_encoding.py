"""Request bodies that come compressed: the CLI sends its bundles in brotli."""

import zlib

import brotli
import orjson
from starlette.requests import Request

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.bodies import is_json, read_bytes
from convex_evals.backend.http.limits import PUSH_BYTES


async def read_encoded_json(request: Request, limit: int = PUSH_BYTES) -> dict[str, object]:
    """Raises RequestError for anything but a JSON object of at most `limit` bytes after decoding."""
    if not is_json(request.headers.get("content-type", "")):
        raise RequestError(400, "BadJsonBody", "Expected request with `Content-Type: application/json`")
    body = decode(await read_bytes(request, limit), request.headers.get("content-encoding", "identity"), limit)
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
        raise RequestError(413, "BadJsonBody", f"The request body is larger than {limit} bytes")
    return decoded


def _malformed(encoding: str) -> RequestError:
    return RequestError(400, "BadJsonBody", f"The request body is not valid for Content-Encoding {encoding}")
