"""Workers for actions: as many as are needed at once, one when none is."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Final

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime.action_worker import ActionWorker
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.gateway import Outside
from convex_evals.backend.runtime.process import WorkerProcess
from convex_evals.backend.runtime.program import WorkerCommand

MAX_WORKERS: Final = 64
IDLE_SECONDS: Final = 5.0
SETTLING_SECONDS: Final = 0.05


class ActionPool:
    """A worker is reused for actions of the same `key`."""

    def __init__(self, code: CodeStore, outside: Outside) -> None:
        self._code = code
        self._outside = outside
        self._slots = asyncio.Semaphore(MAX_WORKERS)
        self._idle: list[tuple[str, ActionWorker]] = []  # the one used last is at the end
        self._all: set[ActionWorker] = set()
        self._chores: set[asyncio.Task[None]] = set()
        self._settling: dict[asyncio.Task[None], str] = {}
        self._is_stopped = False
        self._shrink: asyncio.TimerHandle | None = None

    async def prestart(self, key: str, command: WorkerCommand) -> None:
        """So that the first action finds a worker."""
        if not self._all:
            async with await self.take(key, command):
                pass

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
        """A worker that has just finished is free sooner than a new one has started."""
        settling = [task for task, settled_key in self._settling.items() if settled_key == key]
        if not settling:
            return None
        await asyncio.wait(settling, timeout=SETTLING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return self._find(key)

    def give_back(self, key: str, worker: ActionWorker) -> None:
        """The worker may still be busy with what the last action left behind; that is waited for here."""
        task = self._do(self._settle(key, worker))
        self._settling[task] = key
        task.add_done_callback(lambda done: self._settling.pop(done))

    async def stop(self) -> None:
        self._is_stopped = True
        if self._shrink is not None:
            self._shrink.cancel()
        for settling in list(self._settling):
            settling.cancel()
        await asyncio.gather(*self._settling, return_exceptions=True)
        await asyncio.gather(*self._chores)  # a worker that is being stopped is stopped completely
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
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)
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
