"""Workers for actions: each runs one action at a time; the pool starts as many as are needed at once."""

import asyncio
import errno
from collections.abc import Coroutine
from types import TracebackType
from typing import Final

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.action_exchange import ActionExchange, HttpExchange
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.evaluation import Evaluated
from convex_evals.backend.runtime.execution import Failure, Outcome
from convex_evals.backend.runtime.limits import MAX_ACTION_WORKERS, MOST_TASKS, OUT_OF_MEMORY
from convex_evals.backend.runtime.network import Outside
from convex_evals.backend.runtime.process import WorkerDeath, WorkerProcess
from convex_evals.backend.runtime.program import WorkerCommand
from convex_evals.backend.runtime.protocol import (
    Answer,
    BytesFrame,
    Connect,
    Find,
    Idle,
    Message,
    ProtocolError,
    WorkerMessage,
)

SETTLE_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.25

IDLE_SECONDS: Final = 5.0
KILLED: Final = "Transient error while executing action"
SETTLING_SECONDS: Final = 0.05


class ActionWorker:
    """One process. Between two actions it reports that it is idle; if it does not, code of the last one still runs."""

    def __init__(self, code: CodeStore, outside: Outside) -> None:
        self._code = code
        self._outside = outside
        self._tasks: set[asyncio.Task[None]] = set()
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
        """A process that dies is the failure of its action, which alone runs code in it. Raises WorkerLost when the
        runtime is stopped."""
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

    @property
    def is_busy(self) -> bool:
        return self._exchange is not None

    def kill(self) -> None:
        """From now on nothing that its action does has any effect, even before the process has ended."""
        if self.process is None or self.is_dead:
            return
        self.is_dead = True
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.finish(None, Failure(KILLED, catchable=False))
        self.process.kill()

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
        """The running action ends with WorkerLost."""
        self.is_dead = True
        self._cancel_tasks()
        if self.process is not None:
            await self.process.stop()
        lost = WorkerLost("the runtime was stopped")
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(lost)
        if self._exchange is not None:
            self._exchange.lost(lost)

    # Listener of the process

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
        if len(self._tasks) >= MOST_TASKS:
            work.close()
            raise ProtocolError(f"more than {MOST_TASKS} connections being made at once")
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, message: Connect) -> None:
        gateway = self.running.gateway
        error = await gateway.connect(message.from_port, message.host, message.port) if gateway else errno.EACCES
        self.running.send({"op": "connected", "seq": message.seq, "error": error})

    async def _find(self, message: Find) -> None:
        gateway = self.running.gateway
        found = await gateway.find(message.name) if gateway else None
        self.running.send({"op": "found", "seq": message.seq, "found": found})

    def _cancel_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    def asked(self, question: Message) -> Message:
        if question["ask"] != "syscall":
            return self._code.answer(question)
        return {"error": "this execution has ended"} if self._exchange is None else self._exchange.asked(question)

    def died(self, death: WorkerDeath) -> None:
        self.is_dead = True
        self._cancel_tasks()
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


class ActionPool:
    """A worker is reused for actions of the same `key`."""

    def __init__(self, code: CodeStore, outside: Outside) -> None:
        self._code = code
        self._outside = outside
        self._slots = asyncio.Semaphore(MAX_ACTION_WORKERS)
        self._idle: list[tuple[str, ActionWorker]] = []  # the one used last is at the end
        self._all: set[ActionWorker] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling: dict[asyncio.Task[None], str] = {}
        self._is_stopped = False
        self._shrink: asyncio.TimerHandle | None = None

    async def take(self, key: str, command: WorkerCommand) -> "PooledWorker":
        """Waits while all workers are busy."""
        return PooledWorker(self, key, await self._find_or_start(key, command))

    async def _find_or_start(self, key: str, command: WorkerCommand) -> ActionWorker:
        await self._slots.acquire()
        try:
            return self._find(key) or await self._await_settling(key) or await self._start(command)
        except BaseException:
            self._slots.release()
            raise

    def _find(self, key: str) -> ActionWorker | None:
        for entry in reversed(self._idle):
            if entry[0] == key and not entry[1].is_dead:
                self._idle.remove(entry)
                return entry[1]
        return None

    async def _await_settling(self, key: str) -> ActionWorker | None:
        """A worker that has just finished is free sooner than a new one starts."""
        settling = [task for task, settled_key in self._settling.items() if settled_key == key]
        if not settling:
            return None
        await asyncio.wait(settling, timeout=SETTLING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return self._find(key)

    def give_back(self, key: str, worker: ActionWorker) -> None:
        """Waits in the background for what the last action left running."""
        task = self._do(self._settle(key, worker))
        self._settling[task] = key
        task.add_done_callback(lambda done: self._settling.pop(done))

    def kill(self, *, idle: bool) -> int:
        """Kills the busy workers, with `idle` all of them. How many were busy."""
        busy = [worker for worker in self._all if worker.is_busy]
        for worker in self._all if idle else busy:
            worker.kill()
        return len(busy)

    async def stop(self) -> None:
        self._is_stopped = True
        if self._shrink is not None:
            self._shrink.cancel()
        for settling in list(self._settling):
            settling.cancel()
        await asyncio.gather(*self._settling, return_exceptions=True)
        await asyncio.gather(*self._tasks)  # workers that are being stopped stop completely
        await asyncio.gather(*(worker.stop() for worker in self._all))
        self._all.clear()
        self._idle.clear()

    async def _start(self, command: WorkerCommand) -> ActionWorker:
        worker = ActionWorker(self._code, self._outside)
        await worker.start(command)
        if self._is_stopped:
            await worker.stop()
            raise WorkerLost("the runtime was stopped")
        self._all.add(worker)
        return worker

    async def _settle(self, key: str, worker: ActionWorker) -> None:
        try:
            is_usable = await worker.settle()
        finally:
            self._slots.release()
        if is_usable:
            self._idle.append((key, worker))
            self._shrink_later()
        else:
            self._do(self._discard(worker))

    async def _discard(self, worker: ActionWorker) -> None:
        await worker.stop()
        self._all.discard(worker)

    def _shrink_later(self) -> None:
        if self._shrink is not None:
            self._shrink.cancel()
        self._shrink = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._shrink_now)

    def _shrink_now(self) -> None:
        alive = [entry for entry in self._idle if not entry[1].is_dead]
        for entry in self._idle:
            if entry not in alive[-1:]:
                self._do(self._discard(entry[1]))
        self._idle = alive[-1:]

    def _do(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class PooledWorker:
    """A worker on loan: `async with` gives it back."""

    def __init__(self, pool: ActionPool, key: str, worker: ActionWorker) -> None:
        self._pool = pool
        self._key = key
        self._worker = worker

    @property
    def process(self) -> WorkerProcess:
        return self._worker.running

    async def __aenter__(self) -> ActionWorker:
        return self._worker

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.give_back(self._key, self._worker)
