"""Frames and messages between Python and a worker. See docs/runtime-protocol.md.

A frame is a `u32` payload length, a `u8` kind and the payload. A worker runs code that nobody trusts and may send
anything, so every message is checked before it is used.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson

from convex_evals.backend.runtime.execution import Failure, LogLevel, LogLine, SyscallRequest
from convex_evals.backend.runtime.limits import LARGEST_FRAME_BYTES, MOST_CALLS

_HEADER: Final = struct.Struct(">IB")
_CHANNEL: Final = struct.Struct(">I")
_JSON: Final = 0
_BYTES: Final = 1


Message = dict[str, Any]

LARGEST_INTEGER: Final = 2**53
LEVELS: Final[dict[object, LogLevel]] = {
    "DEBUG": "DEBUG",
    "LOG": "LOG",
    "INFO": "INFO",
    "WARN": "WARN",
    "ERROR": "ERROR",
}
QUESTIONS: Final[Mapping[object, tuple[str, ...]]] = {
    "code": ("code",),
    "module": ("code", "path", "environment"),
    "map": ("code", "path"),
    "env": ("env",),
    "syscall": ("name", "args"),
}
T = TypeVar("T")


class ProtocolError(Exception):
    """A worker sent something that our own code never sends: user code may control its channel."""


@dataclass(frozen=True, slots=True)
class BytesFrame:
    channel: int
    data: bytes


def json_frame(message: Message) -> bytes:
    payload = orjson.dumps(message)
    return _HEADER.pack(len(payload), _JSON) + payload


def bytes_frame(channel: int, data: bytes) -> bytes:
    return _HEADER.pack(_CHANNEL.size + len(data), _BYTES) + _CHANNEL.pack(channel) + data


class FrameParser:
    """Keeps at most one incomplete frame."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Message | BytesFrame]:
        """Raises ProtocolError."""
        self._pending += data
        start = 0
        while len(self._pending) - start >= _HEADER.size:
            length, kind = _HEADER.unpack_from(self._pending, start)
            if length > LARGEST_FRAME_BYTES:
                raise ProtocolError(f"a frame of {length} bytes, where {LARGEST_FRAME_BYTES} is the limit")
            end = start + _HEADER.size + length
            if len(self._pending) < end:
                break
            payload = bytes(self._pending[start + _HEADER.size : end])
            start = end
            yield _parse(kind, payload)
        del self._pending[:start]


def _parse(kind: int, payload: bytes) -> Message | BytesFrame:
    if kind == _BYTES and len(payload) >= _CHANNEL.size:
        (channel,) = _CHANNEL.unpack_from(payload)
        return BytesFrame(channel, payload[_CHANNEL.size :])
    if kind != _JSON:
        raise ProtocolError(f"a frame of kind {kind} with {len(payload)} bytes")
    try:
        message = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise ProtocolError(f"a message that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message that is not an object")
    return message


@dataclass(frozen=True, slots=True)
class Progress:
    """Part of every message about an execution."""

    log_lines: tuple[LogLine, ...] = ()
    pulled: Mapping[int, int] | None = None
    user_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    pass


@dataclass(frozen=True, slots=True)
class Idle:
    pass


@dataclass(frozen=True, slots=True)
class Log:
    id: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class Calls:
    id: int
    progress: Progress
    seq: int | None
    calls: tuple[SyscallRequest, ...]


@dataclass(frozen=True, slots=True)
class Store:
    id: int
    seq: int
    content_type: str | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Load:
    id: int
    seq: int
    storage_id: str


@dataclass(frozen=True, slots=True)
class Head:
    id: int
    status: int
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Done:
    """`result` is text when there is no failure."""

    id: int
    progress: Progress
    result: str | None
    failure: Failure | None
    clock_read: bool


@dataclass(frozen=True, slots=True)
class GotInterrupted:
    id: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class Answer:
    id: int
    result: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class Connect:
    seq: int
    from_port: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Find:
    seq: int
    name: str


WorkerMessage = Ready | Idle | Log | Calls | Store | Load | Head | Done | GotInterrupted | Answer | Connect | Find


class Fields:
    """Typed fields of one JSON object. Every reader raises ProtocolError."""

    def __init__(self, json: object) -> None:
        if not isinstance(json, dict):
            raise ProtocolError(f"{type(json).__name__} instead of an object")
        self._json = json

    def has(self, name: str) -> bool:
        return self._json.get(name) is not None

    def text(self, name: str) -> str:
        return self._typed(name, str)

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def flag(self, name: str, default: bool = False) -> bool:
        return self._typed(name, bool) if self.has(name) else default

    def integer(self, name: str, least: int = 0, most: int = LARGEST_INTEGER) -> int:
        value = self._json.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ProtocolError(f"`{name}` is not an integer from {least} to {most}")
        return value

    def number(self, name: str) -> float:
        value = self._json.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ProtocolError(f"`{name}` is not a number")
        return float(value)

    def items(self, name: str) -> list[object]:
        return self._typed(name, list) if self.has(name) else []

    def texts(self, name: str) -> tuple[str, ...]:
        return _texts(self.items(name))

    def objects(self, name: str) -> list[dict[str, object]]:
        found = [item for item in self.items(name) if isinstance(item, dict)]
        if len(found) != len(self.items(name)):
            raise ProtocolError(f"`{name}` has an item that is not an object")
        return found

    def fields(self, name: str) -> "Fields":
        return Fields(self._json.get(name))

    def _typed(self, name: str, kind: type[T]) -> T:
        value = self._json.get(name)
        if not isinstance(value, kind):
            raise ProtocolError(f"`{name}` is not of type {kind.__name__}")
        return value


def parse_message(message: Message) -> WorkerMessage:
    """Raises ProtocolError."""
    fields = Fields(message)
    parse = _PARSERS.get(fields.text("op"))
    if parse is None:
        raise ProtocolError("an unknown message")
    return parse(fields)


def check_question(message: Message) -> Message:
    """The same question, with the types of its fields checked. Raises ProtocolError."""
    fields = Fields(message)
    names = QUESTIONS.get(fields.text("ask"))
    if names is None:
        raise ProtocolError("an unknown question")
    for name in names:
        fields.text(name)
    if message["ask"] == "syscall":
        fields.integer("id")
    return message


def _progress(fields: Fields) -> Progress:
    user_ms = max(0.0, fields.number("userMs")) if fields.has("userMs") else None
    pulled = dict(_pulled(pair) for pair in fields.items("pulled"))
    return Progress(tuple(_log_line(Fields(line)) for line in fields.items("logs")), pulled or None, user_ms)


def _pulled(pair: object) -> tuple[int, int]:
    query_id, count = _pair(pair, int)
    if query_id < 0 or count < 0:
        raise ProtocolError("`pulled` is negative")
    return query_id, count


def _log_line(line: Fields) -> LogLine:
    level = LEVELS.get(line.text("level"))
    if level is None:
        raise ProtocolError("an unknown level of log lines")
    return LogLine(level, line.texts("messages"), line.number("timestamp"), line.flag("isTruncated"))


def _texts(items: list[object]) -> tuple[str, ...]:
    texts = tuple(item for item in items if isinstance(item, str))
    if len(texts) != len(items):
        raise ProtocolError("an item that is not text")
    return texts


def _pair(value: object, kind: type[T]) -> tuple[T, T]:
    if isinstance(value, list) and len(value) == 2:
        first, second = value
        if isinstance(first, kind) and isinstance(second, kind):
            return first, second
    raise ProtocolError(f"not a pair of {kind.__name__}")


def _calls(fields: Fields) -> Calls:
    items = fields.items("calls")
    if len(items) > MOST_CALLS:
        raise ProtocolError(f"{len(items)} calls at once")
    calls = tuple(SyscallRequest(*_pair(item, str)) for item in items)
    return Calls(fields.integer("id"), _progress(fields), fields.integer("seq") if fields.has("seq") else None, calls)


def _head(fields: Fields) -> Head:
    headers = tuple(_pair(item, str) for item in fields.items("headers"))
    return Head(fields.integer("id"), fields.integer("status", 100, 999), headers)


def _done(fields: Fields) -> Done:
    failure = _failure(fields.fields("failure")) if fields.has("failure") else None
    result = None if failure is not None else fields.text("result")
    return Done(fields.integer("id"), _progress(fields), result, failure, fields.flag("clockRead"))


def _failure(fields: Fields) -> Failure:
    data = fields.optional_text("data")
    return Failure(fields.text("message"), data if data and _is_json(data) else None, fields.flag("catchable", True))


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _answer(fields: Fields) -> Answer:
    return Answer(fields.integer("id"), tuple(fields.objects("result")))


_PARSERS: Final[Mapping[str, Callable[[Fields], WorkerMessage]]] = {
    "ready": lambda _: Ready(),
    "idle": lambda _: Idle(),
    "log": lambda fields: Log(fields.integer("id"), _progress(fields)),
    "calls": _calls,
    "store": lambda fields: Store(
        fields.integer("id"), fields.integer("seq"), fields.optional_text("contentType"), fields.optional_text("sha256")
    ),
    "load": lambda fields: Load(fields.integer("id"), fields.integer("seq"), fields.text("storageId")),
    "head": _head,
    "done": _done,
    "interrupted": lambda fields: GotInterrupted(fields.integer("id"), _progress(fields)),
    "answer": _answer,
    "connect": lambda fields: Connect(
        fields.integer("seq"), fields.integer("from", 0, 65535), fields.text("host"), fields.integer("port", 0, 65535)
    ),
    "find": lambda fields: Find(fields.integer("seq"), fields.text("name")),
}
