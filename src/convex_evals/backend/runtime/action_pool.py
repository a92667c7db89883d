"""Workers for actions: as many as are needed at once, one when none is."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Final

from convex_evals.backend.runtime.action_worker import ActionWorker
from convex_evals.backend.runtime.code import CodeStore
from convex_evals.backend.runtime.process import WorkerCommand, WorkerProcess

MAX_WORKERS: Final = 64
IDLE_SECONDS: Final = 5.0


class ActionPool:
    """A worker is reused for actions of the same `key`."""

    def __init__(self, code: CodeStore) -> None:
        self._code = code
        self._slots = asyncio.Semaphore(MAX_WORKERS)
        self._idle: list[tuple[str, ActionWorker]] = []  # the one used last is at the end
        self._all: set[ActionWorker] = set()
        self._chores: set[asyncio.Task[None]] = set()
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
            while self._idle:
                own = [entry for entry in self._idle if entry[0] == key]
                if not own:
                    break
                self._idle.remove(own[-1])
                if not own[-1][1].is_dead:
                    return own[-1][1]
                self._do(self._discard(own[-1][1]))
            return await self._start(command)
        except BaseException:
            self._slots.release()
            raise

    def give_back(self, key: str, worker: ActionWorker) -> None:
        """The worker may still be busy with what the last action left behind; that is waited for here."""
        self._do(self._settle(key, worker))

    async def stop(self) -> None:
        if self._shrink is not None:
            self._shrink.cancel()
        for chore in list(self._chores):
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self._all))
        self._all.clear()
        self._idle.clear()

    async def _start(self, command: WorkerCommand) -> ActionWorker:
        worker = ActionWorker(self._code)
        await worker.start(command)
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
            await self._discard(worker)

    async def _discard(self, worker: ActionWorker) -> None:
        self._all.discard(worker)
        await worker.stop()

    def _shrink_later(self) -> None:
        if self._shrink is not None:
            self._shrink.cancel()
        self._shrink = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._shrink_now)

    def _shrink_now(self) -> None:
        surplus, self._idle = self._idle[:-1], self._idle[-1:]
        for _, worker in surplus:
            self._do(self._discard(worker))

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)


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
