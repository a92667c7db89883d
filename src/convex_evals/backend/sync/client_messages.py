"""What a client says, typed. `parse` is the only way in."""

from dataclasses import dataclass
from typing import Literal

import orjson

from convex_evals.backend.errors import RequestError
from convex_evals.backend.identity import impersonated
from convex_evals.backend.sync.errors import InvalidMessage
from convex_evals.backend.sync.server_messages import decode_ts

U32_MAX = 2**32 - 1

CallKind = Literal["Mutation", "Action"]


@dataclass(frozen=True, slots=True)
class Connect:
    session_id: str
    client_ts: int | None = None
    max_observed_ts: int | None = None


@dataclass(frozen=True, slots=True)
class AddQuery:
    query_id: int
    udf_path: str
    args: list[object]
    component: str = ""
    journal: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveQuery:
    query_id: int


Modification = AddQuery | RemoveQuery


@dataclass(frozen=True, slots=True)
class ModifyQuerySet:
    base_version: int
    new_version: int
    modifications: tuple[Modification, ...]


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A `Mutation` or an `Action`."""

    kind: CallKind
    request_id: int
    udf_path: str
    args: list[object]
    component: str = ""


@dataclass(frozen=True, slots=True)
class UserToken:
    token: str


@dataclass(frozen=True, slots=True)
class AdminToken:
    key: str
    acting_as: dict[str, object] | None = None


Credential = UserToken | AdminToken | None


@dataclass(frozen=True, slots=True)
class Authenticate:
    base_version: int
    credential: Credential


@dataclass(frozen=True, slots=True)
class Event:
    """Telemetry. Never answered."""


ClientMessage = Connect | ModifyQuerySet | CallRequest | Authenticate | Event


def parse(text: str) -> ClientMessage:
    """Raises InvalidMessage."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidMessage(str(error)) from error
    fields = _Fields(document)
    match fields.string("type"):
        case "Connect":
            return _connect(fields)
        case "ModifyQuerySet":
            return _modify_query_set(fields)
        case "Mutation":
            return _call(fields, "Mutation")
        case "Action":
            return _call(fields, "Action")
        case "Authenticate":
            return _authenticate(fields)
        case "Event":
            return Event()
        case other:
            raise InvalidMessage(f"unknown variant `{other}`")


class _Fields:
    """Typed access to the fields of one JSON object."""

    def __init__(self, document: object) -> None:
        if not isinstance(document, dict):
            raise InvalidMessage("expected an object")
        self._document = document

    def optional(self, name: str) -> object:
        return self._document.get(name)

    def string(self, name: str) -> str:
        value = self._required(name)
        if not isinstance(value, str):
            raise InvalidMessage(f"field `{name}`: expected a string")
        return value

    def optional_string(self, name: str) -> str | None:
        return None if self.optional(name) is None else self.string(name)

    def u32(self, name: str) -> int:
        value = self._required(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= U32_MAX:
            raise InvalidMessage(f"field `{name}`: expected u32")
        return value

    def array(self, name: str) -> list[object]:
        value = self._required(name)
        if not isinstance(value, list):
            raise InvalidMessage(f"field `{name}`: expected an array")
        return value

    def _required(self, name: str) -> object:
        if name not in self._document:
            raise InvalidMessage(f"missing field `{name}`")
        return self._document[name]


def _connect(fields: _Fields) -> Connect:
    client_ts = fields.optional("clientTs")
    observed = fields.optional_string("maxObservedTimestamp")
    fields.u32("connectionCount")
    try:
        return Connect(
            session_id=fields.string("sessionId"),
            client_ts=int(client_ts) if isinstance(client_ts, int | float) else None,
            max_observed_ts=None if observed is None else decode_ts(observed),
        )
    except ValueError as error:
        raise InvalidMessage(str(error)) from error


def _modify_query_set(fields: _Fields) -> ModifyQuerySet:
    return ModifyQuerySet(
        base_version=fields.u32("baseVersion"),
        new_version=fields.u32("newVersion"),
        modifications=tuple(_modification(_Fields(entry)) for entry in fields.array("modifications")),
    )


def _modification(fields: _Fields) -> Modification:
    match fields.string("type"):
        case "Add":
            return AddQuery(
                query_id=fields.u32("queryId"),
                udf_path=fields.string("udfPath"),
                args=fields.array("args"),
                component=fields.optional_string("componentPath") or "",
                journal=fields.optional_string("journal"),
            )
        case "Remove":
            return RemoveQuery(fields.u32("queryId"))
        case other:
            raise InvalidMessage(f"unknown variant `{other}`, expected `Add` or `Remove`")


def _call(fields: _Fields, kind: CallKind) -> CallRequest:
    return CallRequest(
        kind=kind,
        request_id=fields.u32("requestId"),
        udf_path=fields.string("udfPath"),
        args=fields.array("args"),
        component=fields.optional_string("componentPath") or "",
    )


def _authenticate(fields: _Fields) -> Authenticate:
    base_version = fields.u32("baseVersion")
    match fields.string("tokenType"):
        case "User":
            return Authenticate(base_version, UserToken(fields.string("value")))
        case "Admin":
            return Authenticate(base_version, AdminToken(fields.string("value"), _acting_as(fields)))
        case "None":
            return Authenticate(base_version, None)
        case other:
            raise InvalidMessage(f"unknown variant `{other}`, expected one of `Admin`, `User`, `None`")


def _acting_as(fields: _Fields) -> dict[str, object] | None:
    attributes = fields.optional("impersonating") or fields.optional("acting_as")
    if attributes is None:
        return None
    if not isinstance(attributes, dict):
        raise InvalidMessage("field `impersonating`: expected an object")
    try:
        impersonated(attributes)
    except RequestError as error:
        raise InvalidMessage("field `impersonating`: not the attributes of an identity") from error
    return attributes
