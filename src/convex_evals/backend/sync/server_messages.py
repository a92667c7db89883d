"""Messages of the server. `text` is the JSON of one message; values and error data are JSON text already."""

import base64
import binascii
from dataclasses import dataclass
from typing import Protocol

import orjson

LATEST_POSSIBLE = 2**63 - 1
BYTES = 8

Json = dict[str, object]


def encode_ts(ts: int) -> str:
    return base64.b64encode(ts.to_bytes(BYTES, "little")).decode()


def decode_ts(text: str) -> int:
    """Raises ValueError when `text` is not a timestamp."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"a timestamp is base64, not {text!r}") from error
    if len(raw) != BYTES:
        raise ValueError(f"a timestamp has {BYTES} bytes, not {len(raw)}")
    ts = int.from_bytes(raw, "little")
    if ts > LATEST_POSSIBLE:
        raise ValueError(f"a timestamp is at most {LATEST_POSSIBLE}, not {ts}")
    return ts


class ServerMessage(Protocol):
    def to_json(self) -> Json: ...


def text(message: ServerMessage) -> str:
    return orjson.dumps(message.to_json()).decode()


@dataclass(frozen=True, slots=True)
class StateVersion:
    """What a client has been brought up to: never decreases in any part."""

    query_set: int = 0
    identity: int = 0
    ts: int = 0

    def to_json(self) -> Json:
        return {"querySet": self.query_set, "identity": self.identity, "ts": encode_ts(self.ts)}


@dataclass(frozen=True, slots=True)
class Failure:
    """`data` is Convex JSON text, and None (not "null") for everything but a ConvexError."""

    message: str
    data: str | None = None

    def error_data(self) -> Json:
        return {} if self.data is None else {"errorData": orjson.Fragment(self.data)}


@dataclass(frozen=True, slots=True)
class QueryUpdated:
    query_id: int
    value: str
    log_lines: list[str]
    journal: str | None

    def to_json(self) -> Json:
        return {
            "type": "QueryUpdated",
            "queryId": self.query_id,
            "value": orjson.Fragment(self.value),
            "logLines": self.log_lines,
            "journal": self.journal,
        }


@dataclass(frozen=True, slots=True)
class QueryFailed:
    query_id: int
    failure: Failure
    log_lines: list[str]
    journal: str | None

    def to_json(self) -> Json:
        return {
            "type": "QueryFailed",
            "queryId": self.query_id,
            "errorMessage": self.failure.message,
            **self.failure.error_data(),
            "logLines": self.log_lines,
            "journal": self.journal,
        }


@dataclass(frozen=True, slots=True)
class QueryRemoved:
    query_id: int

    def to_json(self) -> Json:
        return {"type": "QueryRemoved", "queryId": self.query_id}


StateModification = QueryUpdated | QueryFailed | QueryRemoved


@dataclass(frozen=True, slots=True)
class Transition:
    start: StateVersion
    end: StateVersion
    modifications: tuple[StateModification, ...] = ()
    client_clock_skew: int | None = None
    server_ts: int | None = None

    def to_json(self) -> Json:
        return {
            "type": "Transition",
            "startVersion": self.start.to_json(),
            "endVersion": self.end.to_json(),
            "modifications": [modification.to_json() for modification in self.modifications],
            "clientClockSkew": self.client_clock_skew,
            "serverTs": self.server_ts,
        }


@dataclass(frozen=True, slots=True)
class TransitionChunk:
    chunk: str
    part_number: int
    total_parts: int
    transition_id: str

    def to_json(self) -> Json:
        return {
            "type": "TransitionChunk",
            "chunk": self.chunk,
            "partNumber": self.part_number,
            "totalParts": self.total_parts,
            "transitionId": self.transition_id,
        }


@dataclass(frozen=True, slots=True)
class MutationResponse:
    """`result` is the value's JSON text, or what went wrong. `ts` is the commit's, on success."""

    request_id: int
    result: str | Failure
    log_lines: list[str]
    ts: int | None = None

    def to_json(self) -> Json:
        ts = None if self.ts is None else encode_ts(self.ts)
        return {"type": "MutationResponse", **_response(self.request_id, self.result, self.log_lines), "ts": ts}


@dataclass(frozen=True, slots=True)
class ActionResponse:
    request_id: int
    result: str | Failure
    log_lines: list[str]

    def to_json(self) -> Json:
        return {"type": "ActionResponse", **_response(self.request_id, self.result, self.log_lines)}


def _response(request_id: int, result: str | Failure, log_lines: list[str]) -> Json:
    if isinstance(result, Failure):
        outcome = {"success": False, "result": result.message, **result.error_data()}
    else:
        outcome = {"success": True, "result": orjson.Fragment(result)}
    return {"requestId": request_id, **outcome, "logLines": log_lines}


@dataclass(frozen=True, slots=True)
class AuthError:
    error: str
    base_version: int
    update_attempted: bool

    def to_json(self) -> Json:
        return {
            "type": "AuthError",
            "error": self.error,
            "baseVersion": self.base_version,
            "authUpdateAttempted": self.update_attempted,
        }


@dataclass(frozen=True, slots=True)
class FatalError:
    error: str

    def to_json(self) -> Json:
        return {"type": "FatalError", "error": self.error}


@dataclass(frozen=True, slots=True)
class Ping:
    def to_json(self) -> Json:
        return {"type": "Ping"}
