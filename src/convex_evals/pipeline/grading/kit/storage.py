"""Stored files."""

import json
from dataclasses import dataclass
from typing import Any, Final

from convex_evals.pipeline.grading.kit.comparing import show
from convex_evals.pipeline.grading.kit.responses import Headers, Response
from convex_evals.pipeline.grading.kit.transport import Transport

PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class StoredFile:
    id: str
    url: str
    size: int
    content_type: str | None
    sha256: str


@dataclass(frozen=True, slots=True)
class Storage:
    transport: Transport

    def upload(self, content: bytes, content_type: str | None = None) -> str:
        """Stores a file as an administrator does and returns its storage id."""
        url = self.transport.system("mutation", "frontend/fileStorageV2:generateUploadUrl")
        return self.upload_to(url, content, content_type)

    def upload_to(self, url: str, content: bytes, content_type: str | None = None) -> str:
        """Posts a file to an upload URL, such as one that a function returned, and returns the storage id."""
        headers = {"Content-Type": content_type} if content_type else {}
        response = self._request("POST", url, content, headers, what=f"the upload to {show(url)}")
        assert response.status == 200, f"the upload to {url} was refused: {response.status} {response.text}"
        return str(json.loads(response.body)["storageId"])

    def download(self, url: str) -> Response:
        """What a storage URL answers."""
        return self._request("GET", url, b"", {}, what=f"the download from {show(url)}")

    def files(self) -> list[StoredFile]:
        """Oldest first."""
        return [_file(entry) for entry in self._entries()]

    def get(self, storage_id: str) -> StoredFile | None:
        entry = self.transport.system("query", "frontend/fileStorageV2:getFile", {"storageId": storage_id})
        return None if entry is None else _file(entry)

    def clear(self) -> None:
        ids = [entry["_id"] for entry in self._entries()]
        if ids:
            self.transport.system("mutation", "frontend/fileStorageV2:deleteFiles", {"storageIds": ids})

    def _request(self, method: str, url: object, content: bytes, headers: Headers, *, what: str) -> Response:
        """A function may return any URL; only those of its own deployment are asked, so that a grader carries nothing
        to anybody else."""
        own = (self.transport.url, self.transport.site_url)
        if not isinstance(url, str) or not url.startswith(tuple(f"{origin}/" for origin in own)):
            raise AssertionError(f"expected a URL of the file storage, received {show(url)}")
        return self.transport.request(method, url, content, headers, what=what)

    def _entries(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        cursor: str | None = None
        is_done = False
        while not is_done:
            args = {"paginationOpts": {"numItems": PAGE, "cursor": cursor}, "filters": {"order": "asc"}}
            page = self.transport.system("query", "frontend/fileStorageV2:fileMetadata", args)
            entries += page["page"]
            cursor, is_done = page["continueCursor"], page["isDone"]
        return entries


def _file(entry: dict[str, Any]) -> StoredFile:
    return StoredFile(entry["_id"], entry["url"], entry["size"], entry.get("contentType"), entry["sha256"])
