"""A worker that runs one action at a time."""

import asyncio
import errno
from collections.abc import Coroutine
from typing import Final

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.action_exchange import ActionExchange, HttpExchange
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.evaluation import Evaluated
from convex_evals.backend.runtime.exchange import MOST_TASKS
from convex_evals.backend.runtime.frames import BytesFrame, Message, ProtocolError
from convex_evals.backend.runtime.gateway import Outside
from convex_evals.backend.runtime.messages import Answer, Connect, Find, Idle, WorkerMessage
from convex_evals.backend.runtime.process import WorkerDeath, WorkerProcess
from convex_evals.backend.runtime.program import WorkerCommand
from convex_evals.backend.runtime.types import Failure, Outcome

SETTLE_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.25
OUT_OF_MEMORY: Final = "JavaScript execution ran out of memory (maximum memory usage: 64 MB)"


class ActionWorker:
    """One process. Between two actions it says that it is idle; one that does not is stuck in the last one's code."""

    def __init__(self, code: CodeStore, outside: Outside) -> None:
        self._code = code
        self._outside = outside
        self._chores: set[asyncio.Task[None]] = set()
        self._exchange: ActionExchange | None = None
        self._answer: asyncio.Future[Evaluated] | None = None
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self.process: WorkerProcess | None = None
        self.is_dead = False

    async def start(self, command: WorkerCommand) -> None:
        self.process = await WorkerProcess.start(command, self, self._outside)

    @property
    def running(self) -> WorkerProcess:
        if self.process is None:
            raise WorkerLost("the action worker is not running")
        return self.process

    async def run(self, exchange: ActionExchange, message: Message) -> Outcome:
        """A process that dies under it is the failure of the action: nobody else runs code in there. Raises WorkerLost
        when the runtime is stopped."""
        self._exchange = exchange
        self._is_idle.clear()
        self.running.send(message)
        if isinstance(exchange, HttpExchange):
            exchange.started()
        try:
            await asyncio.wait([exchange.outcome], timeout=exchange.execution.total_seconds)
            if not exchange.outcome.done():
                exchange.timed_out()
            return await exchange.outcome
        finally:
            self._exchange = None
            exchange.close()
            if not exchange.is_done:
                self.running.kill()
                self.is_dead = True

    async def evaluate(self, message: Message, cpu_seconds: float, seconds: float) -> Evaluated:
        """Imports modules instead of running one. Raises WorkerLost, and TimeoutError when that takes too long."""
        self._answer = asyncio.get_running_loop().create_future()
        self._is_idle.clear()
        self.running.send({**message, "id": 0})
        async with asyncio.timeout(seconds):
            begun = self.running.main_thread_seconds()
            while not self._answer.done():
                if self.running.main_thread_seconds() - begun > cpu_seconds:
                    raise TimeoutError
                await asyncio.wait([self._answer], timeout=LOOK_SECONDS)
            return await self._answer

    async def settle(self) -> bool:
        """Whether the worker can be used again."""
        if self.is_dead:
            return False
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await self._is_idle.wait()
        except TimeoutError:
            return False
        return not self.is_dead

    async def stop(self) -> None:
        """What it runs ends with WorkerLost."""
        self.is_dead = True
        self._abandon_chores()
        if self.process is not None:
            await self.process.stop()
        lost = WorkerLost("the runtime was stopped")
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(lost)
        if self._exchange is not None:
            self._exchange.lost(lost)

    # What the process says.

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        match message:
            case Idle():
                self._is_idle.set()
            case Answer():
                if self._answer is not None and not self._answer.done():
                    self._answer.set_result(message.result)
            case Connect():
                self._do(self._connect(message))
            case Find():
                self._do(self._find(message))
            case _ if self._exchange is not None:
                self._exchange.received(message)

    def _do(self, work: Coroutine[None, None, None]) -> None:
        if len(self._chores) >= MOST_TASKS:
            work.close()
            raise ProtocolError(f"more than {MOST_TASKS} connections being made at once")
        task = asyncio.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    async def _connect(self, message: Connect) -> None:
        gateway = self.running.gateway
        error = await gateway.connect(message.from_port, message.host, message.port) if gateway else errno.EACCES
        self.running.send({"op": "connected", "seq": message.seq, "error": error})

    async def _find(self, message: Find) -> None:
        gateway = self.running.gateway
        found = await gateway.find(message.name) if gateway else None
        self.running.send({"op": "found", "seq": message.seq, "found": found})

    def _abandon_chores(self) -> None:
        for chore in self._chores:
            chore.cancel()

    def asked(self, question: Message) -> Message:
        if question["ask"] != "syscall":
            return self._code.answer(question)
        return {"error": "this execution has ended"} if self._exchange is None else self._exchange.asked(question)

    def died(self, death: WorkerDeath) -> None:
        self.is_dead = True
        self._abandon_chores()
        self._is_idle.set()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(death.error())
        exchange = self._exchange
        if exchange is None:
            return
        if death.was_memory:
            size = (
                f": request stream size was {exchange.request_bytes} bytes"
                if isinstance(exchange, HttpExchange)
                else ""
            )
            exchange.finish(None, Failure(OUT_OF_MEMORY + size, catchable=False))
        elif exchange.execution.environment == "node" and death.status >= 0 and death.fault is None:
            exchange.finish(None, Failure(f"process.exit() called with exit code {death.status}"))
        else:
            exchange.finish(None, Failure(f"The function crashed its worker, which {death.how}", catchable=False))
