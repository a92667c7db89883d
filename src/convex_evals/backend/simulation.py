"""What only graders can do to a deployment: move its clock, kill actions, restart it, empty it in one call."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from convex_evals.backend.clock import DeploymentClock
from convex_evals.backend.database import Transaction
from convex_evals.backend.environment import VariableChange
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.functions import (
    Call,
    CallOutcome,
    FunctionRunner,
    Gate,
    Rendezvous,
    cancel_jobs,
    delete_jobs,
    parse_path,
)
from convex_evals.backend.identity import ADMIN
from convex_evals.backend.push import VariableUpdates
from convex_evals.backend.runtime import FunctionRuntime
from convex_evals.backend.scheduler import Scheduler
from convex_evals.backend.sync import SyncServer
from convex_evals.backend.values import Value, encode, loads

POLL_SECONDS: Final = 0.002
REST_SECONDS: Final = 5.0
PAGE = 1000.0
AT_ONCE: Final = 2000
SOURCE = "_simulation"

_Result = TypeVar("_Result")


class Cleaner:
    def __init__(self, functions: FunctionRunner, variables: VariableUpdates) -> None:
        self._functions = functions
        self._variables = variables

    async def clean(self) -> None:
        """Code and cron jobs stay. Scheduled functions go first, so that none of them writes into a table that is
        already clean; those that are due run before that, as before any call of an administrator."""
        found = await self._query("frontend/components:list")
        components: list[str] = [component["id"] for component in found]
        for component in components:
            self._write(lambda transaction, namespace=component: cancel_jobs(transaction, namespace))  # type: ignore[misc]
        for component in components:
            await self._clear_tables(component)
            self._write(lambda transaction, namespace=component: delete_jobs(transaction, namespace))  # type: ignore[misc]
        await self._delete_files()
        await self._variables.update(VariableChange(name, None) for name in self._variables.all())

    async def _clear_tables(self, component: str) -> None:
        for table in self._functions.host.database.begin().catalog(component).tables:
            while self._delete_some(component, table):  # noqa: ASYNC110 - this is no waiting
                await asyncio.sleep(0)  # others have their turn, too

    def _delete_some(self, component: str, table: str) -> int:
        return self._write(lambda transaction: transaction.clear(component, table, AT_ONCE))

    async def _delete_files(self) -> None:
        is_done = False
        while not is_done:
            options = {"numItems": PAGE, "cursor": None}
            page = await self._query("frontend/fileStorageV2:fileMetadata", paginationOpts=options)
            ids = [file["_id"] for file in page["page"]]
            if ids:
                await self._mutation("frontend/fileStorageV2:deleteFiles", storageIds=ids)
            is_done = page["isDone"]

    async def _query(self, path: str, **args: Any) -> Any:
        return _value(await self._functions.query(_call(path, args)))

    async def _mutation(self, path: str, **args: Any) -> Any:
        return _value(await self._functions.mutation(_call(path, args)))

    def _write(self, work: Callable[[Transaction], _Result]) -> _Result:
        """Cannot conflict, because nothing here awaits."""
        database = self._functions.host.database
        transaction = database.begin()
        result = work(transaction)
        database.commit(transaction, SOURCE)
        return result


def _call(path: str, args: dict[str, Value]) -> Call:
    return Call(parse_path(f"_system/{path}"), [encode(args)], identity=ADMIN)


def _value(outcome: CallOutcome) -> Any:
    if outcome.failure is not None or outcome.value is None:
        raise SystemFailure(f"The deployment cannot be emptied: {outcome.failure}")
    return loads(outcome.value)


@dataclass(frozen=True, slots=True)
class Simulation:
    clock: DeploymentClock
    functions: FunctionRunner
    scheduler: Scheduler
    runtime: FunctionRuntime
    sync: SyncServer
    lockstep: Rendezvous
    overlap: Rendezvous
    gate: Gate
    cleaner: Cleaner

    async def advance(self, nanoseconds: int, seconds: float, hanging: int = 0) -> bool:
        """Moves the clock ahead, from one planned run to the next, so that each sees the time it was planned for.

        Returns when everything that became due on the way has ended. False if that takes longer than `seconds`: then
        the clock stands where it came to. What is running already comes to its end first, so that it does not depend on
        the speed of the machine how much time passes for it; but as many functions as `hanging` are not waited for, nor
        those that take longer than `REST_SECONDS`.
        """
        await self._rest(hanging, min(REST_SECONDS, seconds / 4))
        target = self.clock.now_ns() + nanoseconds
        before = self.scheduler.running
        try:
            async with asyncio.timeout(seconds):
                while (due := await self._next_due(before)) is not None and due <= target:
                    self._move_to(due)
                self._move_to(target)
        except TimeoutError:
            return False
        return True

    async def _rest(self, hanging: int, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while len(self.scheduler.running) > hanging:  # noqa: ASYNC110, because what runs tells nobody
                    await asyncio.sleep(POLL_SECONDS)

    def stop_clock(self) -> None:
        """Until it is started, or the deployment is emptied: time passes only with `advance`."""
        self.clock.stop()

    def start_clock(self) -> None:
        self.clock.start()
        self.scheduler.wake()

    def kill_actions(self) -> int:
        """Kills the process of every running action, as if its machine had died. Returns how many there were."""
        return self.runtime.kill_actions()

    async def clean(self) -> None:
        """Empties it; the code stays. A clock that was stopped is started."""
        self.start_clock()
        await self.cleaner.clean()

    def forget_results(self) -> None:
        self.functions.forget_results()

    async def restart(self) -> None:
        """As if the deployment had crashed and been started again: what is committed is there, and nothing else is.

        Actions that were running are lost, scheduled mutations that were running run again, and clients are cut off.
        """
        await self.scheduler.stop()
        self.sync.disconnect()
        self.runtime.kill_actions(idle=True)
        self.scheduler.start()

    async def _next_due(self, before: frozenset[object]) -> int | None:
        """Once nothing that is due is still waiting or running."""
        while True:
            due = self.scheduler.next_due()
            if not self.scheduler.running - before and (due is None or due > self.clock.now_ns()):
                return due
            await asyncio.sleep(POLL_SECONDS)

    def _move_to(self, now_ns: int) -> None:
        self.clock.move_to(now_ns)
        self.scheduler.wake()
