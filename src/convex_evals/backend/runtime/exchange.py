"""The conversation with a worker about one execution: its syscalls are answered through the bridge until it is done."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Final

from convex_evals.backend.errors import DeveloperError, Interrupted
from convex_evals.backend.runtime.budget import Budget, calling, nested_budget
from convex_evals.backend.runtime.frames import BytesFrame, Message
from convex_evals.backend.runtime.log_lines import LogLines
from convex_evals.backend.runtime.types import (
    Execution,
    Failure,
    LogLine,
    Outcome,
    SyscallBridge,
    SyscallReply,
    SyscallRequest,
)

TOO_MANY_OPERATIONS: Final = "Your request timed out performing too many system operations."

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

    def received(self, message: Message | BytesFrame) -> None:
        if isinstance(message, BytesFrame):
            return
        self._take_news(message)
        match message["op"]:
            case "calls":
                self.is_at_worker = False
                self.start(self._answer(message))
            case "done":
                self._done(message)
            case "interrupted":
                self.is_done = True
                self.lost(Interrupted("the function was interrupted, another one was meant"))

    def _take_news(self, message: Message) -> None:
        """Every message carries the log lines written since the last one, and how much was read and spent."""
        written = self._logs.add_from_worker(message.get("logs", ()))
        if written:
            self._wrote(written)
        self._user_ms = message.get("userMs", self._user_ms)
        pulled = dict(message.get("pulled", ()))
        if pulled:
            try:
                self._bridge.pulled(pulled)
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

    async def _answer(self, message: Message) -> None:
        replies = await self._bridge.call([SyscallRequest(name, args) for name, args in message["calls"]])
        for reply in replies:
            self._logs.add(reply.log_lines)
        self._send({"op": "replies", "id": self.number, "seq": message.get("seq"), "replies": _plain(replies)})

    def _done(self, message: Message) -> None:
        self.is_done = True
        failure = message.get("failure")
        if failure is not None:
            failed = Failure(failure["message"], failure.get("data"), failure.get("catchable", True))
            self.finish(None, failed, message.get("clockRead", False))
        else:
            self.finish(message["result"], None, message.get("clockRead", False))

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

    async def _answer(self, message: Message) -> None:
        self._budget.spent_ms = self._user_ms - self._budget.nested_ms
        before = self._budget.nested_ms
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._system_seconds):
                calls = [SyscallRequest(name, args) for name, args in message["calls"]]
                token = calling.set(self._budget)
                replies = await self._bridge.call(calls)
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
