"""What the runtime is asked to run, how it calls back, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from convex_evals.backend.deployed import Environment, FunctionPath

FunctionKind = Literal["query", "mutation", "action", "httpAction"]
LogLevel = Literal["DEBUG", "LOG", "INFO", "WARN", "ERROR"]


@dataclass(frozen=True, slots=True)
class LogLine:
    level: LogLevel
    messages: tuple[str, ...]
    timestamp_ms: float
    is_truncated: bool = False
    component_path: str | None = None  # set on lines of nested calls into components
    udf_path: str | None = None

    @property
    def text(self) -> str:
        """The form clients get: `[LOG] 'hi' 3`."""
        line = f"[{self.level}] {' '.join(self.messages)}"
        return f"{line} (truncated due to length)" if self.is_truncated else line


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of one function in a fresh context."""

    kind: FunctionKind
    application_version: int
    definition_path: str
    path: FunctionPath
    environment: Environment
    args: str  # JSON text of the argument array
    now_ms: float  # frozen clock of queries and mutations
    seed: bytes  # 32 bytes
    env: Mapping[str, str]  # every variable this function may see
    request_id: str
    user_seconds: float = 1.0  # time in user code; time inside syscalls is not counted for queries and mutations
    total_seconds: float = 15.0
    ahead_ms: float = 0.0  # of the machine's time: the clock of actions


@dataclass(frozen=True, slots=True)
class SyscallRequest:
    name: str  # "1.0/insert", or "query/fetch" (see docs/runtime-protocol.md)
    args: str  # JSON text


@dataclass(frozen=True, slots=True)
class SyscallReply:
    """Exactly one of `result` and `error` is set."""

    result: str | None = None  # JSON text
    error: str | None = None  # message of the Error that the promise rejects with
    error_data: str | None = None  # Convex JSON text, when the error is a ConvexError
    log_lines: Sequence[LogLine] = ()  # of a nested call, to be inserted here
    fatal: bool = False  # end the execution with this error; user code cannot catch it


class SyscallBridge(Protocol):
    """The Python side of the `Convex` global, one object per execution."""

    def call_now(self, name: str, args: str) -> str:
        """`Convex.syscall`. Raises DeveloperError."""
        ...

    async def call(self, calls: Sequence[SyscallRequest]) -> Sequence[SyscallReply]:
        """`Convex.asyncSyscall`: a batch in call order, one reply each. Queries and mutations send one batch at a time
        and wait; actions send batches concurrently."""
        ...

    def pulled(self, counts: Mapping[int, int]) -> None:
        """How many rows (the final "done" included) user code pulled from each open query since the last message.
        Called before each batch and before the end of the execution."""
        ...


@runtime_checkable
class LogBridge(Protocol):
    """An optional part of an action's bridge: it is told of log lines while the action runs."""

    def logged(self, lines: Sequence[LogLine]) -> None: ...


@dataclass(frozen=True, slots=True)
class StoredBlob:
    content: bytes
    content_type: str | None


@runtime_checkable
class StorageBridge(Protocol):
    """An optional part of an action's bridge, when the deployment stores files: `ctx.storage.store` and `.get`."""

    async def store_blob(self, content: bytes, content_type: str | None, sha256: str | None) -> str:
        """The new storage id. Raises DeveloperError."""
        ...

    async def load_blob(self, storage_id: str) -> StoredBlob | None:
        """Raises DeveloperError."""
        ...


@dataclass(frozen=True, slots=True)
class HttpRequestHead:
    method: str
    url: str  # the whole URL
    path: str  # what the router is asked for
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class HttpResponseHead:
    status: int
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    message: str  # developer text: "Uncaught Error: boom\n    at handler (../convex/messages.ts:7:10)\n"
    data: str | None = None  # Convex JSON text of a ConvexError's data
    catchable: bool = True  # False for timeouts and memory: they end the outermost call


@dataclass(slots=True)
class Outcome:
    """`result` is the JSON text the function returned, or None when it failed."""

    result: str | None
    failure: Failure | None
    log_lines: list[LogLine] = field(default_factory=list)
    user_ms: float = 0.0
    clock_read: bool = False  # user code of a query looked at the time: its result does not hold forever
