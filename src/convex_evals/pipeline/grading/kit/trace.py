"""Measured work: what calls read, wrote and called, from the deployment's function log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from convex_evals.pipeline.grading.kit.contents import function_name, simulates
from convex_evals.pipeline.grading.kit.errors import CallTimedOut, EvalBroken
from convex_evals.pipeline.grading.kit.transport import Transport

VARIABLE: Final = "CONVEX_EVALS_TRACE"
CLOCK_SLACK_MS: Final = 5.0
LOG_SECONDS: Final = 5.0
SCHEDULED: Final = ("Scheduler", "Cron")


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One execution: `function` is like `messages:list`, or `GET /path`; `indexes` like `messages.by_channel`.

    `round_trips` is how often a query or mutation stopped to wait: reads that are under way together count once.
    """

    function: str
    kind: str  # "query", "mutation", "action", "httpaction"
    caller: str
    documents_read: int
    bytes_read: int
    documents_written: int
    bytes_written: int
    database_queries: int
    round_trips: int
    indexes: tuple[str, ...]
    is_nested: bool
    error: str | None


@dataclass
class Work:
    """Known after the block. Figures are sums over all calls; `calls` are in the order in which they ended."""

    calls: list[TracedCall] = field(default_factory=list)

    @property
    def documents_read(self) -> int:
        return sum(call.documents_read for call in self.calls)

    @property
    def bytes_read(self) -> int:
        return sum(call.bytes_read for call in self.calls)

    @property
    def documents_written(self) -> int:
        return sum(call.documents_written for call in self.calls)

    @property
    def bytes_written(self) -> int:
        return sum(call.bytes_written for call in self.calls)

    @property
    def database_queries(self) -> int:
        return sum(call.database_queries for call in self.calls)

    @property
    def round_trips(self) -> int:
        return sum(call.round_trips for call in self.calls)

    @property
    def indexes(self) -> frozenset[str]:
        """Read by any of the calls. A full scan reads `table.by_creation_time`, a get `table.by_id`."""
        return frozenset(index for call in self.calls for index in call.indexes)

    def calls_of(self, function: str) -> list[TracedCall]:
        return [call for call in self.calls if call.function == function]

    @property
    def nested_calls(self) -> list[TracedCall]:
        """What actions called with `ctx.runQuery` and its like."""
        return [call for call in self.calls if call.is_nested]


class Completed(NamedTuple):
    """The end of one execution, as the log has it."""

    function: str
    caller: str
    was_cached: bool


def completions(transport: Transport, cursor: float, seconds: float) -> list[Completed]:
    """The executions that ended since the time `cursor` (ms); waits for the first one, if there is none yet."""
    answer = transport.administer(f"/api/stream_function_logs?cursor={cursor - CLOCK_SLACK_MS}", seconds=seconds)
    entries = [entry for entry in answer["entries"] if entry["kind"] == "Completion" and not entry.get("willRetry")]
    return [Completed(_function(entry), entry["caller"], bool(entry.get("cachedResult"))) for entry in entries]


@contextmanager
def trace(transport: Transport, *, scheduled: bool = False) -> Iterator[Work]:
    """Measures the calls of the block. None is answered from the cache of an earlier one.

    With `scheduled`, scheduled functions and cron jobs that end in the block count as well, with what they call.
    """
    _forget_results(transport)
    # Scheduled functions are not known by their requests, so one that ended just before the block must not slip in.
    started = time.time() * 1000 - (0 if scheduled else CLOCK_SLACK_MS)
    work = Work()
    noted: list[str] = []
    transport.requests = noted
    try:
        yield work
    finally:
        transport.requests = None
    entries = _entries(transport, started, noted)
    work.calls += [_call(entry) for entry in (_with_scheduled(transport, started, noted) if scheduled else entries)]


def _forget_results(transport: Transport) -> None:
    """Functions cannot see it: they must not know when they are measured.

    On an ordinary deployment a variable comes and goes: results depend on all variables.
    """
    if not simulates(transport, "forget_results"):
        for value in (str(time.monotonic_ns()), None):
            change = {"name": VARIABLE, "value": value}
            transport.administer("/api/update_environment_variables", {"changes": [change]})


def _entries(transport: Transport, cursor: float, requests: list[str]) -> list[dict[str, Any]]:
    """The ends of all executions that belong to these requests; waits for the end of each request itself."""
    found: list[dict[str, Any]] = []
    waiting = set(requests)
    while waiting:
        try:
            answer = transport.administer(f"/api/stream_function_logs?cursor={cursor}", seconds=LOG_SECONDS)
        except CallTimedOut as error:
            raise AssertionError(f"{len(waiting)} of {len(requests)} measured calls reached no function") from error
        cursor = answer["newCursor"]
        for entry in answer["entries"]:
            if entry["kind"] == "Completion" and entry["requestId"] in requests:
                found.append(entry)
                if not entry.get("parentExecutionId") and not entry.get("willRetry"):
                    waiting.discard(entry["requestId"])
    return found


def _with_scheduled(transport: Transport, cursor: float, requests: list[str]) -> list[dict[str, Any]]:
    """What belongs to these requests or to what was scheduled: its ends in the log since the time `cursor`."""
    try:
        answer = transport.administer(f"/api/stream_function_logs?cursor={cursor}", seconds=LOG_SECONDS)
    except CallTimedOut:
        return []
    ends = [entry for entry in answer["entries"] if entry["kind"] == "Completion"]
    wanted = {*requests, *(entry["requestId"] for entry in ends if entry["caller"] in SCHEDULED)}
    return [entry for entry in ends if entry["requestId"] in wanted]


def _call(entry: dict[str, Any]) -> TracedCall:
    is_nested = bool(entry.get("parentExecutionId"))
    if entry.get("cachedResult") and not is_nested:  # an action may well ask for the same twice
        raise EvalBroken(f"{entry['identifier']} was answered from the cache, so that its work cannot be measured")
    usage = entry["usageStats"]
    return TracedCall(
        function=_function(entry),
        kind=entry["udfType"].lower(),
        caller=entry["caller"],
        documents_read=int(usage["databaseReadDocuments"]),
        bytes_read=int(usage["databaseReadBytes"]),
        documents_written=int(usage.get("databaseWriteDocuments", 0)),
        bytes_written=int(usage["databaseWriteBytes"]),
        database_queries=int(usage.get("databaseQueries", 0)),
        round_trips=int(usage.get("roundTrips", 0)),
        indexes=tuple(usage.get("databaseReadIndexes", ())),
        is_nested=is_nested,
        error=entry.get("error"),
    )


def _function(entry: dict[str, Any]) -> str:
    identifier: str = entry["identifier"]
    return identifier if entry["udfType"] == "HttpAction" else function_name(identifier)
