"""Uploading and downloading files."""

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.environment import read_state
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions import Host
from convex_evals.backend.http.bodies import query_fields
from convex_evals.backend.http.file_response import OpenFileResponse
from convex_evals.backend.http.incoming_body import too_large
from convex_evals.backend.http.limits import UPLOAD_BYTES
from convex_evals.backend.http.ranges import ByteRange, UnsatisfiableRange, parse_range
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
            raise too_large(UPLOAD_BYTES)
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
