"""The one worker that runs all queries and mutations. It is started again when it dies."""

import asyncio
import contextlib
import itertools
import math
from typing import Final

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.evaluation import Evaluated
from convex_evals.backend.runtime.exchange import TransactionExchange
from convex_evals.backend.runtime.frames import BytesFrame, Message, ProtocolError
from convex_evals.backend.runtime.messages import Answer, Calls, Done, GotInterrupted, Log, WorkerMessage
from convex_evals.backend.runtime.process import WorkerDeath, WorkerProcess
from convex_evals.backend.runtime.sandbox import Sandbox
from convex_evals.backend.runtime.types import Execution, Outcome, SyscallBridge
from convex_evals.backend.runtime.watch import Watch

EVALUATION_SECONDS: Final = 10.0  # it has a limit of its own, in the worker


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
            with contextlib.suppress(WorkerLost):  # it did not even start
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
        """Raises TimeoutError when the worker has not answered by then; it is killed, for nothing else stops it."""
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
            if self._process is starting:  # and not one that somebody else has started since
                self._process = None
            raise

    def _seconds_left(self) -> float | None:
        """What any function that may be running now has left; None when there is none at all."""
        if not self._exchanges:
            return None
        if self._answers:
            return EVALUATION_SECONDS
        return max((each.left_seconds for each in self._exchanges.values() if each.is_at_worker), default=math.inf)

    # What the process says.

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
                raise ProtocolError("what queries and mutations never say")

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
