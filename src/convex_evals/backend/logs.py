"""The function log: what ran, how it ended, what it printed and what it cost. Read by long polling."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from convex_evals.backend.deployed import UdfType
from convex_evals.backend.runtime import LogLine

RETAINED_ENTRIES = 10_000
CURSOR_STEP_MS = 0.001


@dataclass(frozen=True, slots=True)
class UsageStats:
    """Work that one execution caused, as the function log states it."""

    database_read_bytes: int = 0
    database_write_bytes: int = 0
    database_read_documents: int = 0
    database_write_documents: int = 0
    database_queries: int = 0
    database_read_indexes: tuple[str, ...] = ()  # "messages.by_channel"; an addition of ours
    round_trips: int = 0  # how often the function waited for syscalls; an addition of ours
    storage_read_bytes: int = 0
    storage_write_bytes: int = 0
    vector_index_read_bytes: int = 0
    vector_index_write_bytes: int = 0
    text_index_query_bytes: int = 0

    def to_json(self) -> dict[str, object]:
        return {
            "databaseReadBytes": self.database_read_bytes,
            "databaseWriteBytes": self.database_write_bytes,
            "databaseIoReadBytes": self.database_read_bytes,
            "databaseIoWriteBytes": self.database_write_bytes,
            "databaseReadDocuments": self.database_read_documents,
            "databaseWriteDocuments": self.database_write_documents,
            "databaseQueries": self.database_queries,
            "databaseReadIndexes": list(self.database_read_indexes),
            "roundTrips": self.round_trips,
            "storageReadBytes": self.storage_read_bytes,
            "storageWriteBytes": self.storage_write_bytes,
            "vectorIndexReadBytes": self.vector_index_read_bytes,
            "vectorIndexWriteBytes": self.vector_index_write_bytes,
            "textIndexQueryBytes": self.text_index_query_bytes,
            "textIndexWriteQueryBytes": 0,
            "vectorIndexReadQueryBytes": 0,
            "vectorIndexWriteQueryBytes": 0,
            "networkEgressBytes": 0,
            "memoryUsedMb": 0,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """Lines of an action, reported while it runs."""

    udf_type: UdfType
    identifier: str  # "messages:list", or "GET /path" for HTTP actions
    component_path: str | None
    request_id: str
    execution_id: str
    log_lines: Sequence[LogLine]
    timestamp: float = field(default_factory=time.time)  # seconds

    def to_json(self, structured: bool) -> dict[str, object]:
        return {
            "kind": "Progress",
            "udfType": self.udf_type,
            "componentPath": self.component_path,
            "identifier": self.identifier,
            "timestamp": self.timestamp,
            "logLines": lines_to_json(self.log_lines, structured),
            "requestId": self.request_id,
            "executionId": self.execution_id,
        }


@dataclass(frozen=True, slots=True)
class OccInfo:
    """Which write made this attempt conflict."""

    table_name: str | None
    document_id: str | None
    write_source: str | None
    retry_count: int

    def to_json(self) -> dict[str, object]:
        return {
            "tableName": self.table_name,
            "documentId": self.document_id,
            "writeSource": self.write_source,
            "retryCount": self.retry_count,
        }


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of one execution (or of one attempt that lost to another commit)."""

    udf_type: UdfType
    identifier: str
    component_path: str | None
    request_id: str
    execution_id: str
    caller: str
    identity_type: str
    environment: Literal["isolate", "node"]
    execution_seconds: float
    log_lines: Sequence[LogLine] = ()
    error: str | None = None
    http_status: str | None = None
    cached: bool = False
    user_seconds: float | None = None
    parent_execution_id: str | None = None
    return_bytes: int | None = None
    occ_info: OccInfo | None = None
    will_retry: bool = False
    usage: UsageStats = UsageStats()
    timestamp: float = field(default_factory=time.time)  # seconds

    def to_json(self, structured: bool) -> dict[str, object]:
        return {
            "kind": "Completion",
            "udfType": self.udf_type,
            "componentPath": self.component_path,
            "identifier": self.identifier,
            "logLines": lines_to_json(self.log_lines, structured),
            "timestamp": self.timestamp,
            "cachedResult": self.cached,
            "caller": self.caller,
            "parentExecutionId": self.parent_execution_id,
            "executionTime": self.execution_seconds,
            "userExecutionTime": self.user_seconds,
            "success": None if self.http_status is None else {"status": self.http_status},
            "error": self.error,
            "requestId": self.request_id,
            "executionId": self.execution_id,
            "returnBytes": self.return_bytes,
            "occInfo": None if self.occ_info is None else self.occ_info.to_json(),
            "willRetry": self.will_retry,
            "executionTimestamp": self.timestamp - self.execution_seconds,
            "identityType": self.identity_type,
            "environment": self.environment,
            "usageStats": self.usage.to_json(),
        }


LogEntry = Progress | Completion


def lines_to_json(lines: Sequence[LogLine], structured: bool) -> list[object]:
    return [_line_to_json(line) if structured else line.text for line in lines]


def _line_to_json(line: LogLine) -> dict[str, object]:
    json: dict[str, object] = {
        "messages": list(line.messages),
        "isTruncated": line.is_truncated,
        "timestamp": line.timestamp_ms,
        "level": line.level,
    }
    if line.component_path is not None:
        json["componentPath"] = line.component_path
    if line.udf_path is not None:
        json["udfPath"] = line.udf_path
    return json


@dataclass(frozen=True, slots=True)
class LogPage:
    entries: list[LogEntry]
    cursor: float


class FunctionLog:
    """The newest entries, each under a cursor that only grows."""

    def __init__(self, retained: int = RETAINED_ENTRIES) -> None:
        self._entries: deque[tuple[float, LogEntry]] = deque(maxlen=retained)
        self._cursor = 0.0
        self._grown = asyncio.Event()
        self._closed = False

    def append(self, entry: LogEntry) -> None:
        self._cursor = max(time.time() * 1000, self._cursor + CURSOR_STEP_MS)
        self._entries.append((self._cursor, entry))
        self._wake()

    @property
    def cursor(self) -> float:
        """Where the log ends now: `after(cursor)` gives what happens from here on."""
        return self._cursor

    def after(self, cursor: float) -> LogPage:
        newer: list[LogEntry] = []
        for at, entry in reversed(self._entries):
            if at <= cursor:
                break
            newer.append(entry)
        newer.reverse()
        return LogPage(newer, self._cursor if newer else cursor)

    async def wait_after(self, cursor: float, timeout: float) -> LogPage:
        """The entries after `cursor`, as soon as there is one; empty when `timeout` seconds pass without any."""
        try:
            async with asyncio.timeout(timeout):
                while not (page := self.after(cursor)).entries and not self._closed:
                    await self._grown.wait()
        except TimeoutError:
            return LogPage([], cursor)
        return page

    def close(self) -> None:
        """Releases everyone who waits: there will be no more entries."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()
