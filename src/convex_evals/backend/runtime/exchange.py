"""The conversation with a worker about one execution: its syscalls are answered through the bridge until it is done."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Final

from convex_evals.backend.errors import DeveloperError, Interrupted
from convex_evals.backend.runtime.budget import Budget, calling, nested_budget
from convex_evals.backend.runtime.frames import BytesFrame, Message, ProtocolError
from convex_evals.backend.runtime.log_lines import LogLines
from convex_evals.backend.runtime.messages import Calls, Done, GotInterrupted, Log, News, WorkerMessage
from convex_evals.backend.runtime.types import (
    Execution,
    Failure,
    LogLine,
    Outcome,
    SyscallBridge,
    SyscallReply,
)

TOO_MANY_OPERATIONS: Final = "Your request timed out performing too many system operations."

MOST_TASKS: Final = 2048  # workers refuse their functions more than a thousand

Send = Callable[[Message], None]


class Exchange:
    """`outcome` is set when the worker is done, or when the execution failed outside of it."""

    def __init__(self, number: int, execution: Execution, bridge: SyscallBridge, send: Send) -> None:
        self.number = number
        self.execution = execution
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.is_done = False  # the worker has said so
        self.is_at_worker = True  # and not waiting for an answer from us
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
            "seed": execution.seed.hex(),
            "requestId": execution.request_id,
            "userMs": execution.user_seconds * 1000,
        }

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        """Raises ProtocolError."""
        if isinstance(message, Log | Calls | Done | GotInterrupted):
            self._take_news(message.news)
        match message:
            case Calls():
                self.is_at_worker = False
                self.start(self._answer(message))
            case Done():
                self.is_done = True
                self.finish(message.result, message.failure, message.clock_read)
            case GotInterrupted():
                self.is_done = True
                self.lost(Interrupted("the function was interrupted, another one was meant"))

    def _take_news(self, news: News) -> None:
        written = self._logs.add_kept(news.log_lines)
        if written:
            self._wrote(written)
        if news.user_ms is not None:
            self._user_ms = min(news.user_ms, (time.monotonic() - self._started) * 1000)  # it cannot have been more
        if news.pulled:
            try:
                self._bridge.pulled(news.pulled)
            except DeveloperError as error:
                self.finish(None, Failure(error.message))

    def _wrote(self, lines: Sequence[LogLine]) -> None:
        """Log lines have come; they are collected for the outcome already."""

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
        task.add_done_callback(lambda _: work.close())  # a task that is cancelled at once never gets to it

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        """What the bridge does not turn into a reply ends the execution and reaches its caller."""
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
        """No more answers are wanted."""
        for task in self._tasks:
            task.cancel()
        if not self.outcome.done():
            self.outcome.cancel()


class TransactionExchange(Exchange):
    """Of a query or mutation: one batch of syscalls at a time, limits on the time in user code and in syscalls."""

    def __init__(self, number: int, execution: Execution, bridge: SyscallBridge, send: Send) -> None:
        super().__init__(number, execution, bridge, send)
        self._parent = calling.get()
        self._budget: Budget = nested_budget(execution.user_seconds)
        self._system_seconds = execution.total_seconds

    @property
    def left_seconds(self) -> float:
        """For user code, when the worker last told."""
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
        self._user_ms -= self._budget.nested_ms  # the worker counts nested calls, too; our callers do that themselves
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
