"""The worker that runs all queries and mutations, restarted when it dies, and the watch over its user code."""

import asyncio
import contextlib
import itertools
import math
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.evaluation import Evaluated
from convex_evals.backend.runtime.exchange import TransactionExchange
from convex_evals.backend.runtime.execution import Execution, Outcome, SyscallBridge
from convex_evals.backend.runtime.process import WorkerDeath, WorkerProcess
from convex_evals.backend.runtime.protocol import (
    Answer,
    BytesFrame,
    Calls,
    Done,
    GotInterrupted,
    Log,
    Message,
    ProtocolError,
    WorkerMessage,
)
from convex_evals.backend.runtime.sandbox import Sandbox

INTERVAL_SECONDS: Final = 0.05
SLACK: Final = 1.3  # user code is not all that a worker does for a call,
SLACK_SECONDS: Final = 0.2  # and calls are not all that it does
DEAF_SECONDS: Final = 2.0  # a worker that ignores an interrupt for this long is killed

EVALUATION_SECONDS: Final = 10.0  # it has a limit of its own, in the worker


class Watched(Protocol):
    @property
    def signs_of_life(self) -> int: ...

    def main_thread_seconds(self) -> float: ...

    def interrupt(self) -> None: ...

    def kill(self) -> None: ...


class Watch:
    """Ends user code that has no time left, from outside.

    The engine could do that alone, but only with a new thread for each entry into user code, which takes longer than
    most functions do. So this watches the worker while functions run in it: a worker that sends nothing while it uses
    up all the time a function may have left gets a signal, which ends the function that runs. The worker then says
    whether that function has really used up its time, or another one had and this one must run again.

    `seconds_left` is how long user code may still run at most, None when there is nothing to watch.
    """

    def __init__(self, seconds_left: Callable[[], float | None]) -> None:
        self._seconds_left = seconds_left
        self._worker: Watched | None = None
        self._next: asyncio.TimerHandle | None = None
        self._signs = 0
        self._since = 0.0  # CPU time of the worker at its last sign of life, or when it was interrupted
        self._is_interrupted = False

    def begin(self, worker: Watched) -> None:
        """Watches until nothing runs any more."""
        if self._worker is worker and self._next is not None:
            return
        self.end()
        self._worker = worker
        self._look_again()
        self._remember(worker)

    def end(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _look_again(self) -> None:
        self._next = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._look)

    def _look(self) -> None:
        self._next = None
        worker, left = self._worker, self._seconds_left()
        if worker is None or left is None:
            return
        if worker.signs_of_life != self._signs:
            self._remember(worker)
        else:
            self._judge(worker, left)
        self._look_again()

    def _judge(self, worker: Watched, left: float) -> None:
        now = worker.main_thread_seconds()
        if self._is_interrupted:
            if now - self._since > DEAF_SECONDS:
                worker.kill()
        elif now - self._since > left * SLACK + SLACK_SECONDS:
            worker.interrupt()
            self._since, self._is_interrupted = now, True

    def _remember(self, worker: Watched) -> None:
        self._signs = worker.signs_of_life
        self._since, self._is_interrupted = worker.main_thread_seconds(), False


class FunctionsWorker:
    def __init__(self, sandbox: Sandbox, code: CodeStore) -> None:
        self._sandbox = sandbox
        self._code = code
        self._numbers = itertools.count(1)
        self._exchanges: dict[int, TransactionExchange] = {}
        self._answers: dict[int, asyncio.Future[Evaluated]] = {}
        self._process: asyncio.Task[WorkerProcess] | None = None
        self._watch = Watch(self._seconds_left)

    async def start(self) -> None:
        await self._running()

    async def stop(self) -> None:
        self._watch.end()
        if self._process is not None:
            starting, self._process = self._process, None
            with contextlib.suppress(WorkerLost):  # it never started
                await (await starting).stop()
        self._lose_all(WorkerLost("the runtime was stopped"))

    async def run(self, execution: Execution, bridge: SyscallBridge) -> Outcome:
        """Raises WorkerLost when the process dies, and whatever the bridge raises."""
        process = await self._running()
        exchange = TransactionExchange(next(self._numbers), execution, bridge, process.send)
        code = self._code.require(execution.application_version, execution.definition_path)
        self._exchanges[exchange.number] = exchange
        process.send(exchange.run_message(code, self._code.environment_id(execution.env)))
        self._watch.begin(process)
        try:
            return await exchange.outcome
        finally:
            exchange.close()
            del self._exchanges[exchange.number]
            if not exchange.is_done:
                process.send({"op": "cancel", "id": exchange.number})

    async def evaluate(self, message: Message, seconds: float) -> Evaluated:
        """Raises TimeoutError when the worker has not answered by then; it is killed, because nothing else stops it."""
        process = await self._running()
        number = next(self._numbers)
        future: asyncio.Future[Evaluated] = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        process.send({**message, "id": number})
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            process.kill()
            raise
        finally:
            del self._answers[number]

    async def _running(self) -> WorkerProcess:
        if self._process is None:
            self._process = asyncio.create_task(WorkerProcess.start(self._sandbox.functions(), self))
        starting = self._process
        try:
            return await asyncio.shield(starting)
        except WorkerLost:
            if self._process is starting:  # and not one that has been started since
                self._process = None
            raise

    def _seconds_left(self) -> float | None:
        """The most that any function running now has left; None when none runs."""
        if not self._exchanges:
            return None
        if self._answers:
            return EVALUATION_SECONDS
        return max((each.left_seconds for each in self._exchanges.values() if each.is_at_worker), default=math.inf)

    # Listener of the process

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        match message:
            case Answer():
                future = self._answers.get(message.id)
                if future is not None and not future.done():
                    future.set_result(message.result)
            case Log() | Calls() | Done() | GotInterrupted():
                exchange = self._exchanges.get(message.id)
                if exchange is not None:
                    exchange.received(message)
            case _:
                raise ProtocolError("a message that queries and mutations never send")

    def asked(self, question: Message) -> Message:
        if question["ask"] != "syscall":
            return self._code.answer(question)
        exchange = self._exchanges.get(question["id"])
        return {"error": "this execution has ended"} if exchange is None else exchange.asked(question)

    def died(self, death: WorkerDeath) -> None:
        self._watch.end()
        self._process = None
        self._lose_all(death.error())

    def _lose_all(self, error: WorkerLost) -> None:
        for exchange in self._exchanges.values():
            exchange.lost(error)
        for future in self._answers.values():
            if not future.done():
                future.set_exception(error)


class Quarantine:
    """A worker for calls that have lost theirs. They run in it one at a time: a call that loses it again has killed it.

    The worker runs only while a call is inside or waits.
    """

    def __init__(self, sandbox: Sandbox, code: CodeStore) -> None:
        self.worker = FunctionsWorker(sandbox, code)
        self._turn = asyncio.Lock()
        self._here = 0

    @contextlib.asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        self._here += 1
        try:
            async with self._turn:
                try:
                    yield
                finally:
                    if self._here == 1:
                        await self.worker.stop()
        finally:
            self._here -= 1

    async def stop(self) -> None:
        await self.worker.stop()
