"""The conversation with a worker about one execution: its syscalls are answered through the bridge until it is done."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from convex_evals.backend.errors import DeveloperError, Interrupted
from convex_evals.backend.runtime.execution import (
    Execution,
    Failure,
    LogLine,
    Outcome,
    SyscallBridge,
    SyscallReply,
)
from convex_evals.backend.runtime.limits import (
    LOG_OVERFLOW,
    MAX_LOG_LINES,
    MOST_TASKS,
    NODE_LOG_OVERFLOW,
    TOO_MANY_OPERATIONS,
)
from convex_evals.backend.runtime.protocol import (
    BytesFrame,
    Calls,
    Done,
    GotInterrupted,
    Log,
    Message,
    Progress,
    ProtocolError,
    WorkerMessage,
)

Send = Callable[[Message], None]


@dataclass(slots=True)
class Budget:
    limit_ms: float
    spent_ms: float = 0.0  # by this execution itself
    nested_ms: float = 0.0  # by the calls it made

    @property
    def left_ms(self) -> float:
        return max(self.limit_ms - self.spent_ms - self.nested_ms, 0.0)


# Set while the syscalls of an execution are answered, so that an execution started by them finds its parent.
calling: ContextVar[Budget | None] = ContextVar("calling", default=None)


def nested_budget(user_seconds: float) -> Budget:
    parent = calling.get()
    limit = user_seconds * 1000
    return Budget(limit if parent is None else min(limit, parent.left_ms))


class LogLines:
    def __init__(self, max_characters: int | None = None) -> None:
        self.lines: list[LogLine] = []
        self._is_full = False
        self._characters = 0
        self._max_characters = max_characters

    def add_kept(self, lines: Iterable[LogLine]) -> list[LogLine]:
        """Returns the lines that were kept."""
        before = len(self.lines)
        self.add(lines)
        return self.lines[before:]

    def add(self, lines: Iterable[LogLine]) -> None:
        for line in lines:
            self._add(line)

    def _add(self, line: LogLine) -> None:
        if self._is_full:
            return
        self._characters += sum(map(len, line.messages))
        if self._max_characters is not None and self._characters > self._max_characters:
            self._end(line, NODE_LOG_OVERFLOW)
        elif len(self.lines) == MAX_LOG_LINES - 1:
            self._end(line, LOG_OVERFLOW)
        else:
            self.lines.append(line)

    def _end(self, line: LogLine, text: str) -> None:
        self._is_full = True
        self.lines.append(LogLine("ERROR", (text,), line.timestamp_ms))


class Exchange:
    """`outcome` is set when the worker is done, or when the execution failed outside of it."""

    def __init__(self, number: int, execution: Execution, bridge: SyscallBridge, send: Send) -> None:
        self.number = number
        self.execution = execution
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.is_done = False  # the worker has reported it
        self.is_at_worker = True  # rather than waiting for an answer from us
        self._bridge = bridge
        self._send = send
        self._logs = LogLines()
        self._user_ms = 0.0
        self._started = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()

    def run_message(self, code: str, environment_id: str) -> Message:
        execution = self.execution
        return {
            "op": "run",
            "id": self.number,
            "kind": execution.kind,
            "code": code,
            "env": environment_id,
            "module": execution.path.module,
            "name": execution.path.function,
            "args": execution.args,
            "now": execution.now_ms,
            "ahead": execution.ahead_ms,
            "seed": execution.seed.hex(),
            "requestId": execution.request_id,
            "userMs": execution.user_seconds * 1000,
        }

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        """Raises ProtocolError."""
        if isinstance(message, Log | Calls | Done | GotInterrupted):
            self._update(message.progress)
        match message:
            case Calls():
                self.is_at_worker = False
                self.start(self._answer(message))
            case Done():
                self.is_done = True
                self.finish(message.result, message.failure, message.clock_read)
            case GotInterrupted():
                self.is_done = True
                self.lost(Interrupted("the function was interrupted in place of another one"))

    def _update(self, progress: Progress) -> None:
        written = self._logs.add_kept(progress.log_lines)
        if written:
            self._wrote(written)
        if progress.user_ms is not None:
            self._user_ms = min(
                progress.user_ms, (time.monotonic() - self._started) * 1000
            )  # the most it can have been
        if progress.pulled:
            try:
                self._bridge.pulled(progress.pulled)
            except DeveloperError as error:
                self.finish(None, Failure(error.message))

    def _wrote(self, lines: Sequence[LogLine]) -> None:
        """Called with new log lines, which the outcome has already."""

    def asked(self, question: Message) -> Message:
        """`Convex.syscall`."""
        try:
            return {"result": self._bridge.call_now(question["name"], question["args"])}
        except DeveloperError as error:
            return {"error": error.message}

    def start(self, work: Coroutine[None, None, None]) -> None:
        if len(self._tasks) >= MOST_TASKS:
            work.close()
            raise ProtocolError(f"more than {MOST_TASKS} operations at once")
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # a task that is cancelled at once never starts it

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        """An error of the bridge ends the execution and is raised to its caller."""
        try:
            await work
        except Exception as error:
            self.lost(error)

    async def _answer(self, message: Calls) -> None:
        replies = await self._bridge.call(message.calls)
        for reply in replies:
            self._logs.add(reply.log_lines)
        self._send({"op": "replies", "id": self.number, "seq": message.seq, "replies": _plain(replies)})

    def finish(self, result: str | None, failure: Failure | None, clock_read: bool = False) -> None:
        if not self.outcome.done():
            self.outcome.set_result(Outcome(result, failure, self._logs.lines, self._user_ms, clock_read))

    def lost(self, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def close(self) -> None:
        """Cancels the answers under way."""
        for task in self._tasks:
            task.cancel()
        if not self.outcome.done():
            self.outcome.cancel()


class TransactionExchange(Exchange):
    """A query or mutation: one batch of syscalls at a time, limits on the time in user code and in syscalls."""

    def __init__(self, number: int, execution: Execution, bridge: SyscallBridge, send: Send) -> None:
        super().__init__(number, execution, bridge, send)
        self._parent = calling.get()
        self._budget: Budget = nested_budget(execution.user_seconds)
        self._system_seconds = execution.total_seconds

    @property
    def left_seconds(self) -> float:
        """For user code, as of the worker's last message."""
        return (self._budget.limit_ms - self._user_ms) / 1000

    def run_message(self, code: str, environment_id: str) -> Message:
        return {**super().run_message(code, environment_id), "userMs": self._budget.limit_ms}

    async def _answer(self, message: Calls) -> None:
        self._budget.spent_ms = self._user_ms - self._budget.nested_ms
        before = self._budget.nested_ms
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._system_seconds):
                token = calling.set(self._budget)
                replies = await self._bridge.call(message.calls)
                calling.reset(token)
        except TimeoutError:
            self.finish(None, Failure(TOO_MANY_OPERATIONS, catchable=False))
            return
        self._system_seconds -= time.monotonic() - started
        for reply in replies:
            self._logs.add(reply.log_lines)
        nested_ms = self._budget.nested_ms - before
        self.is_at_worker = True
        self._send({"op": "replies", "id": self.number, "replies": _plain(replies), "userMs": nested_ms})

    def finish(self, result: str | None, failure: Failure | None, clock_read: bool = False) -> None:
        self._user_ms -= self._budget.nested_ms  # the worker counts nested calls too, and so do our callers
        if self._parent is not None and not self.outcome.done():
            self._parent.nested_ms += self._user_ms + self._budget.nested_ms
        super().finish(result, failure, clock_read)


def _plain(replies: Sequence[SyscallReply]) -> list[Message]:
    return [_plain_reply(reply) for reply in replies]


def _plain_reply(reply: SyscallReply) -> Message:
    if reply.error is None:
        return {"result": reply.result}
    message: Message = {"error": reply.error}
    if reply.error_data is not None:
        message["data"] = reply.error_data
    if reply.fatal:
        message["fatal"] = True
    return message
