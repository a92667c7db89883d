"""What a deployment holds: documents, files, environment variables, scheduled functions and cron jobs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from convex_evals.pipeline.grading.kit.assertions import show, without
from convex_evals.pipeline.grading.kit.errors import CallFailed, EvalBroken, Mismatch, Refused
from convex_evals.pipeline.grading.kit.transport import Headers, Response, Transport
from convex_evals.pipeline.grading.kit.values import Int64, from_json

Document = dict[str, Any]
PAGE: Final = 1000
MOST_AT_ONCE: Final = 4096
NOT_FOUND: Final = 404
State = Literal["pending", "inProgress", "success", "failed", "canceled"]


@dataclass(frozen=True, slots=True)
class Tables:
    transport: Transport

    def insert(self, table: str, documents: Sequence[Mapping[str, Any]]) -> list[str]:
        """Inserts all or none and returns their ids, in order. The deployed schema applies."""
        if not documents:
            return []
        if len(documents) > MOST_AT_ONCE:
            raise EvalBroken(f"at most {MOST_AT_ONCE} documents can be inserted at once, not {len(documents)}")
        wanted = [dict(document) for document in documents]
        answer = self._mutation("frontend/addDocument", f'insert into "{table}"', table=table, documents=wanted)
        if not answer["success"]:
            raise Refused(self.transport.name, f'the insert into "{table}"', 400, show(answer["error"]))
        newest = self.transport.system("query", "frontend/listTableScan", {"table": table, "limit": len(wanted)})
        written: list[Document] = newest[::-1]
        if without(written) != without(wanted):
            raise Refused(
                self.transport.name,
                f'the insert into "{table}"',
                409,
                "the table changed meanwhile, so ids are not known",
            )
        return [document["_id"] for document in written]

    def documents(self, table: str, component: str | None = None) -> list[Document]:
        """Oldest first; empty when there is no such table. A component is found by its path, such as "outer/inner"."""
        return list(self._scan(table, self._component_id(component)))

    def get(self, document_id: str) -> Document | None:
        found: Document | None = self.transport.system("query", "frontend/getById", {"id": document_id})
        return found

    def replace(self, document_id: str, document: Mapping[str, Any]) -> None:
        answer = self._mutation("frontend/replaceDocument", f"replace {document_id}", id=document_id, document=document)
        if not answer["success"]:
            raise Refused(self.transport.name, f"the replacement of {document_id}", 400, show(answer["error"]))

    def delete(self, table: str, ids: Sequence[str]) -> None:
        entries = [{"id": document_id, "tableName": table} for document_id in ids]
        self._mutation("frontend/deleteDocuments", f'delete from "{table}"', toDelete=entries)

    def names(self, component: str | None = None) -> list[str]:
        args = {"paginationOpts": {"numItems": PAGE, "cursor": None}, "componentId": component}
        return [entry["name"] for entry in self.transport.system("query", "cli/tables", args)["page"]]

    def clear(self, table: str, component: str | None = None) -> None:
        cursor: str | None = None
        has_more = True
        while has_more:
            args = {"tableName": table, "cursor": cursor, "componentId": component}
            page = self.transport.system("mutation", "frontend/clearTablePage", args)
            cursor, has_more = page["continueCursor"], page["hasMore"]

    def _component_id(self, path: str | None) -> str | None:
        if path is None:
            return None
        mounted = {entry["path"]: entry["id"] for entry in self.transport.system("query", "frontend/components:list")}
        if path not in mounted:
            wanted, received = f"a component mounted at {show(path)}", show(sorted(filter(None, mounted)))
            raise Mismatch(f"expected {wanted}, received {received}", wanted, received)
        return str(mounted[path])

    def _scan(self, table: str, component: str | None) -> Iterator[Document]:
        cursor: str | None = None
        is_done = False
        while not is_done:
            options = {"numItems": PAGE, "cursor": cursor}
            args = {"table": table, "order": "asc", "paginationOpts": options, "componentId": component}
            page = self.transport.system("query", "cli/tableData", args)
            yield from page["page"]
            cursor, is_done = page["continueCursor"], page["isDone"]

    def _mutation(self, path: str, what: str, **args: object) -> Any:
        try:
            return self.transport.system("mutation", path, args)
        except CallFailed as error:
            raise CallFailed(error.deployment, what, error.text, error.data, error.has_data) from error


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
            wanted = "a URL of the file storage"
            raise Mismatch(f"expected {wanted}, received {show(url)}", wanted, show(url))
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


@dataclass(frozen=True, slots=True)
class Environment:
    transport: Transport

    def set(self, **variables: str | None) -> None:
        """None removes a variable. All are removed after the test."""
        changes = [{"name": name, "value": value} for name, value in variables.items()]
        self.transport.administer("/api/update_environment_variables", {"changes": changes})

    def all(self) -> dict[str, str]:
        rows = self.transport.system("query", "frontend/listEnvironmentVariables")
        return {row["name"]: row["value"] for row in rows}

    def clear(self) -> None:
        names = self.all()
        if names:
            self.set(**dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class ScheduledFunction:
    """`function` is like `messages:send`; times are milliseconds since 1970."""

    id: str
    function: str
    args: dict[str, Any]
    state: State
    scheduled_for: float
    scheduled_at: float
    error: str | None

    @property
    def delay_ms(self) -> float:
        """How long after it was scheduled it was to run."""
        return self.scheduled_for - self.scheduled_at


@dataclass(frozen=True, slots=True)
class CronJob:
    """`schedule` is like `{"type": "interval", "seconds": 60}`; `runs` of it, oldest first, are statuses."""

    name: str
    function: str
    args: dict[str, Any]
    schedule: dict[str, Any]
    runs: tuple[str, ...]


def parse_scheduled(document: dict[str, Any]) -> ScheduledFunction:
    args = document["args"]
    return ScheduledFunction(
        id=document["_id"],
        function=function_name(document["name"]),
        args=args[0] if args else {},
        state=document["state"]["kind"],
        scheduled_for=document["scheduledTime"],
        scheduled_at=document["_creationTime"],
        error=document["state"].get("error"),
    )


def parse_cron(document: dict[str, Any], runs: list[dict[str, Any]]) -> CronJob:
    spec = document["cronSpec"]
    return CronJob(
        name=document["name"],
        function=function_name(spec["udfPath"]),
        args=_arguments(spec["udfArgs"]),
        schedule={name: _plain(part) for name, part in spec["cronSchedule"].items()},
        runs=tuple(run["status"]["type"] for run in runs if run["name"] == document["name"]),
    )


def function_name(path: str) -> str:
    """`messages.js:send` as graders write it."""
    module, _, name = path.rpartition(":")
    return f"{module.removesuffix('.js')}:{name}"


def _arguments(encoded: bytes) -> dict[str, Any]:
    given = from_json(json.loads(encoded))
    first: dict[str, Any] = given[0] if given else {}
    return first


def _plain(part: object) -> object:
    return int(part) if isinstance(part, Int64) else part


_ordinary: set[str] = set()  # addresses of deployments that can do what they can in production, and no more


def simulates(transport: Transport, what: str) -> bool:
    """Asks for what only a simulated deployment can do; False if this is an ordinary one."""
    if transport.url in _ordinary:
        return False
    try:
        transport.administer(f"/api/simulation/{what}", {})
    except Refused as error:
        if error.status != NOT_FOUND:
            raise
        _ordinary.add(transport.url)
    return transport.url not in _ordinary


def clean(transport: Transport) -> None:
    """In one request where the deployment can do it, which most of the time of a short test would otherwise go into."""
    if not simulates(transport, "clean"):
        clean_step_by_step(transport)


def clean_step_by_step(transport: Transport) -> None:
    """Scheduled functions first, so that none of them writes into a table that is already clean."""
    components = [component["id"] or None for component in transport.system("query", "frontend/components:list")]
    for component in components:
        transport.administer("/api/cancel_all_jobs", {"componentId": component})
    for component in components:
        for table in Tables(transport).names(component):
            Tables(transport).clear(table, component)
        transport.administer("/api/delete_scheduled_functions_table", {"componentId": component})
    Storage(transport).clear()
    Environment(transport).clear()
