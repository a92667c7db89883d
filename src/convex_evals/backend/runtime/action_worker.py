"""A worker that runs one action at a time."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.action_exchange import ActionExchange, HttpExchange
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.frames import BytesFrame, Message
from convex_evals.backend.runtime.process import WorkerDeath, WorkerProcess
from convex_evals.backend.runtime.program import WorkerCommand
from convex_evals.backend.runtime.types import Failure, Outcome

SETTLE_SECONDS: Final = 1.0
OUT_OF_MEMORY: Final = "JavaScript execution ran out of memory (maximum memory usage: 64 MB)"


class ActionWorker:
    """One process. Between two actions it says that it is idle; one that does not is stuck in the last one's code."""

    def __init__(self, code: CodeStore) -> None:
        self._code = code
        self._exchange: ActionExchange | None = None
        self._answer: asyncio.Future[Sequence[Mapping[str, object]]] | None = None
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self.process: WorkerProcess | None = None
        self.is_dead = False

    async def start(self, command: WorkerCommand) -> None:
        self.process = await WorkerProcess.start(command, self)

    @property
    def running(self) -> WorkerProcess:
        if self.process is None:
            raise WorkerLost("the action worker is not running")
        return self.process

    async def run(self, exchange: ActionExchange, message: Message) -> Outcome:
        """Raises WorkerLost unless the process died of what the action did."""
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

    async def evaluate(self, message: Message) -> Sequence[Mapping[str, object]]:
        """Imports modules instead of running one. Raises WorkerLost."""
        self._answer = asyncio.get_running_loop().create_future()
        self._is_idle.clear()
        self.running.send({**message, "id": 0})
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
        if self.process is not None:
            await self.process.stop()
        lost = WorkerLost("the runtime was stopped")
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(lost)
        if self._exchange is not None:
            self._exchange.lost(lost)

    # What the process says.

    def received(self, message: Message | BytesFrame) -> None:
        if isinstance(message, dict) and message["op"] == "idle":
            self._is_idle.set()
        elif isinstance(message, dict) and message["op"] == "answer":
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(message["result"])
        elif self._exchange is not None:
            self._exchange.received(message)

    def asked(self, question: Message) -> Message:
        if question["ask"] != "syscall":
            return self._code.answer(question)
        return {"error": "this execution has ended"} if self._exchange is None else self._exchange.asked(question)

    def died(self, death: WorkerDeath) -> None:
        self.is_dead = True
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
        elif exchange.execution.environment == "node" and death.status >= 0:
            exchange.finish(None, Failure(f"process.exit() called with exit code {death.status}"))
        else:
            exchange.lost(death.error())
