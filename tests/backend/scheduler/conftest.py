"""A deployment with functions to schedule (`app/`), and short words for what tests ask of it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from convex_evals.backend.database import Transaction
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.environment import write_paused
from convex_evals.backend.functions.calls import CallOutcome
from convex_evals.backend.logs import Completion
from convex_evals.backend.scheduler import Scheduler
from convex_evals.backend.values import Value

APP = Path(__file__).parent / "app"

Deploy = Callable[..., Awaitable[None]]
DeploymentOf = Callable[..., AbstractAsyncContextManager[Deployment]]


def app_files() -> dict[str, str]:
    return {path.name: path.read_text() for path in APP.glob("*.ts")}


class Scheduled:
    """What runs by itself in one deployment."""

    def __init__(self, deployment: Deployment, deploy: Deploy) -> None:
        self.deployment = deployment
        self._deploy = deploy

    async def push(self, crons: str = "", **changed: str) -> None:
        """The app, with the statements `crons` as its `crons.ts`, and other modules instead of its own."""
        files = app_files()
        if crons:
            files["crons.ts"] = (
                'import { cronJobs, makeFunctionReference } from "convex/server";\n'
                "const crons = cronJobs(), f = (path: string): any => makeFunctionReference(path);\n"
                f"{crons}\nexport default crons;\n"
            )
        await self._deploy(self.deployment, files | {f"{name}.ts": text for name, text in changed.items()})

    async def query(self, path: str, /, **args: Value) -> Any:
        return _value(await self.deployment.query(path, args))

    async def mutation(self, path: str, /, **args: Value) -> Any:
        return _value(await self.deployment.mutation(path, args))

    async def schedule(self, path: str, /, after_ms: float = 0.0, times: int = 1, **args: Value) -> list[str]:
        ids: list[str] = await self.mutation("jobs:schedule", path=path, args=args, ms=after_ms, times=float(times))
        return ids

    async def cancel(self, id: str) -> None:
        await self.mutation("jobs:cancel", id=id)

    async def job(self, id: str) -> Any:
        return await self.query("jobs:job", id=id)

    async def seen(self, name: str) -> list[Any]:
        """What each run of this name saw, in the order of their commits."""
        return [run["seen"] for run in await self.query("jobs:runs", name=name)]

    async def reaches(self, id: str, state: str) -> Any:
        async def reached() -> bool:
            return bool((await self.job(id))["state"]["kind"] == state)

        await eventually(reached)
        return await self.job(id)

    async def ran(self, name: str, times: int = 1) -> list[Any]:
        async def there() -> bool:
            return len(await self.seen(name)) >= times

        await eventually(there)
        return await self.seen(name)

    def rows(self, table: str, namespace: str = "") -> list[dict[str, Any]]:
        return [row.value for row in self.deployment.database.begin().system.scan(namespace, table)]

    def write(self, work: Callable[[Transaction], object]) -> None:
        transaction = self.deployment.database.begin()
        work(transaction)
        self.deployment.database.commit(transaction)

    def pause(self, paused: bool = True) -> None:
        self.write(lambda transaction: write_paused(transaction, paused))

    async def go_on(self, word: str) -> None:
        """Ends `jobs:act` that goes on until this word."""
        await self.mutation("jobs:goOn", name=word)

    async def has_acted(self, times: int = 1) -> None:
        async def there() -> bool:
            entries = self.deployment.log.after(0).entries
            return [entry.identifier for entry in entries if isinstance(entry, Completion)].count("jobs:act") >= times

        await eventually(there)

    async def own_clock(self, ahead: float = 0.0) -> "Clock":
        """Restarts the scheduler, with a clock that is so many seconds ahead."""
        clock = Clock(self, ahead)
        await self.deployment.scheduler.stop()
        self.deployment.scheduler = Scheduler(self.deployment.functions, clock)
        self.deployment.scheduler.start()
        return clock


def _value(outcome: CallOutcome) -> Any:
    assert outcome.value is not None, outcome.failure
    return json.loads(outcome.value)


class Clock:
    """The wall clock, which tests move forward instead of waiting."""

    def __init__(self, scheduled: Scheduled, ahead: float) -> None:
        self._scheduled = scheduled
        self._ahead = ahead

    def __call__(self) -> int:
        return time.time_ns() + round(self._ahead * 1e9)

    def jump(self, seconds: float, notice: bool = True) -> None:
        self._ahead += seconds
        if notice:
            self._scheduled.deployment.scheduler.wake()


async def eventually(condition: Callable[[], Awaitable[bool]], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        if await condition():
            return
        assert time.monotonic() < deadline, f"not within {seconds} s"
        await asyncio.sleep(0.01)


@pytest.fixture
async def scheduled(deploy: Deploy, deployment_of: DeploymentOf) -> AsyncIterator[Scheduled]:
    async with deployment_of(app_files()) as deployment:
        yield Scheduled(deployment, deploy)


@pytest.fixture
async def clock(scheduled: Scheduled) -> Clock:
    """Of the scheduler of `scheduled`."""
    return await scheduled.own_clock()


@pytest.fixture
def scheduled_in(deploy: Deploy) -> Callable[[Deployment], Scheduled]:
    return lambda deployment: Scheduled(deployment, deploy)


@pytest.fixture
def app_deployment(deployment_of: DeploymentOf) -> DeploymentOf:
    """`async with app_deployment(database=file)`: for a deployment that is stopped and started again."""
    return partial(deployment_of, app_files())


@pytest.fixture(name="eventually")
def eventually_fixture() -> Callable[..., Awaitable[None]]:
    return eventually
