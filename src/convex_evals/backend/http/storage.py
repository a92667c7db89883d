"""Uploads and downloads of files."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeVar

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from convex_evals.backend.environment import read_state
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions import Host
from convex_evals.backend.http.bodies import UPLOAD_BYTES, body_too_large, query_fields
from convex_evals.backend.storage import (
    FileRow,
    Files,
    ServedFile,
    Sha256Mismatch,
    normalize_media_type,
    parse_digest_header,
    parse_uuid,
    to_base64,
)

CACHE_CONTROL = "private, max-age=2592000"
CLIENT_GONE = 408
CHUNK_BYTES: Final = 256 * 1024

_RANGES = re.compile(r"bytes\s*=\s*(.+)", re.IGNORECASE)
_RANGE = re.compile(r"(\d*)\s*-\s*(\d*)")

T = TypeVar("T")


class StorageRoutes:
    def __init__(self, files: Files, host: Host) -> None:
        self._files = files
        self._host = host

    def routes(self) -> list[Route]:
        return [
            Route("/api/storage/upload", self._upload, methods=["POST"]),
            Route("/api/storage/{uuid}", self._download, methods=["GET"]),
        ]

    async def _upload(self, request: Request) -> Response:
        token = query_fields(request).text("token")
        content_type = _header(request, "content-type", normalize_media_type)
        digest = _header(request, "digest", parse_digest_header)
        namespace = self._files.tokens.component_of(token)
        self._check_running()
        try:
            storage_id = await self._files.save(namespace, _bounded(request.stream()), content_type, digest)
        except Sha256Mismatch as error:
            raise RequestError(400, "Sha256Mismatch", error.message) from error
        except ClientDisconnect:
            return Response(status_code=CLIENT_GONE)
        return Response(orjson.dumps({"storageId": storage_id}), media_type="application/json")

    async def _download(self, request: Request) -> Response:
        text = request.path_params["uuid"]
        uuid = parse_uuid(text)
        if uuid is None:
            raise RequestError(
                400,
                "InvalidStoragePath",
                f'Invalid storage path: "{text}". Please use `storage.getUrl(storageId: Id<"_storage">)` to generate a '
                "valid URL to retrieve files. See https://docs.convex.dev/file-storage/serve-files for more details",
            )
        served = self._open(request.query_params.get("component", ""), uuid)
        if served is None:
            raise RequestError(404, "FileNotFound", f"File {uuid} not found")
        return _serve(served, request.headers.get("range"))

    def _open(self, component_id: str, uuid: str) -> ServedFile | None:
        application = self._host.application
        known = application.instances.values() if application is not None else ()
        if component_id and all(instance.id != component_id for instance in known):
            return None
        return self._files.open(component_id, uuid)

    def _check_running(self) -> None:
        if read_state(self._host.database.begin(), self._host.urls).paused:
            raise RequestError(
                400, "BackendIsNotRunning", "Cannot perform this operation when the backend is not running"
            )


async def _bounded(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > UPLOAD_BYTES:
            raise body_too_large(UPLOAD_BYTES)
        yield chunk


def _header(request: Request, name: str, parse: Callable[[str], T | None]) -> T | None:
    text = request.headers.get(name)
    if text is None:
        return None
    value = parse(text)
    if value is None:
        raise RequestError(400, "BadHeader", f"Bad header for {name}: invalid HTTP header")
    return value


def _serve(served: ServedFile, wanted: str | None) -> Response:
    row = served.row
    try:
        part = parse_range(wanted, row.size)
    except UnsatisfiableRange:
        headers = {"content-range": f"bytes */{row.size}", "accept-ranges": "bytes"}
        return OpenFileResponse(served.content, None, 416, headers)
    headers = _headers(row)
    if part is not None:
        headers["content-range"] = f"bytes {part.first}-{part.last}/{row.size}"
        return OpenFileResponse(served.content, part, 206, headers)
    headers["digest"] = f"sha-256={to_base64(row.sha256)}"
    return OpenFileResponse(served.content, ByteRange(0, row.size - 1), 200, headers)


def _headers(row: FileRow) -> dict[str, str]:
    headers = {"cache-control": CACHE_CONTROL, "accept-ranges": "bytes"}
    if row.content_type is not None:
        headers["content-type"] = row.content_type
    return headers


@dataclass(frozen=True, slots=True)
class ByteRange:
    """`first` and `last` are included."""

    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


class UnsatisfiableRange(Exception):
    """None of the requested bytes exists, or several ranges are requested."""


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """The requested part of `size` bytes; None is all of it, also for an invalid header. Raises UnsatisfiableRange."""
    found = _RANGES.fullmatch(header.strip()) if header is not None else None
    if found is None or size == 0:
        return None
    ranges = [part.strip() for part in found[1].split(",")]
    if len(ranges) > 1:
        raise UnsatisfiableRange
    return _parse_one(ranges[0], size)


def _parse_one(text: str, size: int) -> ByteRange | None:
    found = _RANGE.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return _last_bytes(int(found[2]), size)
    first, last = int(found[1]), int(found[2]) if found[2] else size - 1
    if first >= size:
        raise UnsatisfiableRange
    return ByteRange(first, min(last, size - 1)) if first <= last else None


def _last_bytes(count: int, size: int) -> ByteRange:
    if count == 0:
        raise UnsatisfiableRange
    return ByteRange(max(size - count, 0), size - 1)


class OpenFileResponse(Response):
    """Sends one part of an open file, and closes it. Without a part the body is empty."""

    def __init__(self, content: BinaryIO, part: ByteRange | None, status: int, headers: Mapping[str, str]) -> None:
        size = 0 if part is None else part.size
        super().__init__(None, status, {**headers, "content-length": str(size)})
        self._content = content
        self._part = part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._content as content:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if self._part is not None and scope["method"] != "HEAD":
                await _send_part(content, self._part, send)
            await send({"type": "http.response.body", "body": b""})


async def _send_part(content: BinaryIO, part: ByteRange, send: Send) -> None:
    content.seek(part.first)
    left = part.size
    while left > 0:
        chunk = await asyncio.to_thread(content.read, min(left, CHUNK_BYTES))
        if not chunk:
            raise OSError(f"the file ends {left} bytes too early")
        left -= len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
