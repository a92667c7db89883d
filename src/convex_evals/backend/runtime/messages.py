"""What workers say, checked before anybody uses it. A worker runs code that nobody trusts, and may say anything."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import orjson

from convex_evals.backend.runtime.frames import Message, ProtocolError
from convex_evals.backend.runtime.types import Failure, LogLevel, LogLine, SyscallRequest

MOST_CALLS: Final = 4096  # in one message
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


@dataclass(frozen=True, slots=True)
class News:
    """What every message about an execution brings along."""

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
    news: News


@dataclass(frozen=True, slots=True)
class Calls:
    id: int
    news: News
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
    news: News
    result: str | None
    failure: Failure | None
    clock_read: bool


@dataclass(frozen=True, slots=True)
class GotInterrupted:
    id: int
    news: News


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
    """Of one JSON object, read with their types. Every reader raises ProtocolError."""

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
    """The same question, all of whose fields have the right types. Raises ProtocolError."""
    fields = Fields(message)
    names = QUESTIONS.get(fields.text("ask"))
    if names is None:
        raise ProtocolError("an unknown question")
    for name in names:
        fields.text(name)
    if message["ask"] == "syscall":
        fields.integer("id")
    return message


def _news(fields: Fields) -> News:
    user_ms = max(0.0, fields.number("userMs")) if fields.has("userMs") else None
    pulled = dict(_pulled(pair) for pair in fields.items("pulled"))
    return News(tuple(_log_line(Fields(line)) for line in fields.items("logs")), pulled or None, user_ms)


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
    return Calls(fields.integer("id"), _news(fields), fields.integer("seq") if fields.has("seq") else None, calls)


def _head(fields: Fields) -> Head:
    headers = tuple(_pair(item, str) for item in fields.items("headers"))
    return Head(fields.integer("id"), fields.integer("status", 100, 999), headers)


def _done(fields: Fields) -> Done:
    failure = _failure(fields.fields("failure")) if fields.has("failure") else None
    result = None if failure is not None else fields.text("result")
    return Done(fields.integer("id"), _news(fields), result, failure, fields.flag("clockRead"))


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
    "log": lambda fields: Log(fields.integer("id"), _news(fields)),
    "calls": _calls,
    "store": lambda fields: Store(
        fields.integer("id"), fields.integer("seq"), fields.optional_text("contentType"), fields.optional_text("sha256")
    ),
    "load": lambda fields: Load(fields.integer("id"), fields.integer("seq"), fields.text("storageId")),
    "head": _head,
    "done": _done,
    "interrupted": lambda fields: GotInterrupted(fields.integer("id"), _news(fields)),
    "answer": _answer,
    "connect": lambda fields: Connect(
        fields.integer("seq"), fields.integer("from", 0, 65535), fields.text("host"), fields.integer("port", 0, 65535)
    ),
    "find": lambda fields: Find(fields.integer("seq"), fields.text("name")),
}
