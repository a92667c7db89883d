"""What graders can do to a deployment that nobody can do to a real one: let time pass, let things die, begin anew."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.backend.clock import DeploymentClock

if TYPE_CHECKING:
    from convex_evals.backend.cleaning import Cleaner
    from convex_evals.backend.functions import Lockstep
    from convex_evals.backend.runtime import FunctionRuntime
    from convex_evals.backend.scheduler import Scheduler
    from convex_evals.backend.sync import SyncServer

POLL_SECONDS: Final = 0.002


@dataclass(frozen=True, slots=True)
class Simulation:
    clock: DeploymentClock
    scheduler: "Scheduler"
    runtime: "FunctionRuntime"
    sync: "SyncServer"
    lockstep: "Lockstep"
    cleaner: "Cleaner"

    async def advance(self, nanoseconds: int, seconds: float) -> bool:
        """Moves the clock ahead, from one planned run to the next, so that each sees the time it was planned for.

        Returns when everything that became due on the way has ended; what ran before is not waited for. False if that
        takes longer than `seconds`: then the clock stands where it came to.
        """
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

    def kill_actions(self) -> int:
        """Kills the process of every action that is running, as if its machine had died. How many there were."""
        return self.runtime.kill_actions()

    async def clean(self) -> None:
        """Empties it; the code stays."""
        await self.cleaner.clean()

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
