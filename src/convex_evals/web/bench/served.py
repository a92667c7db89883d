"""`serve` as people start it: a process of its own, asked over HTTP, whose processor time is its own, too."""

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2
import psutil

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.processes import PipedProcess, base_environment, start_piped

TIMES: Final = 40
OPEN_PAGES: Final = 200
IDLE_SECONDS: Final = 10.0
SETTLE_SECONDS: Final = 3.0
PATIENCE_SECONDS: Final = 300.0
ANSWER_BYTES: Final = 1 << 26
LAST_LINES: Final = 5
PYTHON: Final = (sys.executable, "-P", "-m")
QUIET_TRIES: Final = 120
QUIET_MS: Final = 30.0


@dataclass
class Processor:
    """The time that some processes have used, and all that they started, also what has ended since."""

    processes: Sequence[psutil.Process]

    def seconds(self) -> float:
        every = {each.pid: each for one in self.processes for each in (one, *one.children(recursive=True))}
        return sum(sum(each.cpu_times()[:4]) for each in every.values())


@dataclass
class Stopwatch:
    """Wall and processor time since it was made, in milliseconds."""

    processor: Processor
    began: float = field(init=False)
    used: float = field(init=False)

    def __post_init__(self) -> None:
        self.began, self.used = time.perf_counter(), self.processor.seconds()

    @property
    def wall(self) -> float:
        return (time.perf_counter() - self.began) * 1000

    @property
    def cpu(self) -> float:
        return (self.processor.seconds() - self.used) * 1000


@dataclass(frozen=True, slots=True)
class Served:
    """`start` is how many seconds it took until the first answer."""

    client: httpx2.AsyncClient
    processor: Processor
    start: float

    async def wait_until_quiet(self) -> None:
        """Until it has prepared itself. A server that never becomes quiet is measured as it is."""
        for _ in range(QUIET_TRIES):
            watch = Stopwatch(self.processor)
            await asyncio.sleep(1)
            if watch.cpu < QUIET_MS:
                return

    async def measure(self, address: str) -> tuple[float, list[float], float]:
        """Of one page: the first answer's time, those of the following, and what each cost, in milliseconds."""
        watch = Stopwatch(self.processor)
        await self._ask(address)
        first, times = watch.wall, list[float]()
        spent = Stopwatch(self.processor)
        for _ in range(TIMES):
            watch = Stopwatch(self.processor)
            await self._ask(address)
            times.append(watch.wall)
        return first, sorted(times), spent.cpu / TIMES

    async def _ask(self, address: str) -> None:
        answer = await self.client.get(address)
        if answer.status_code != 200:
            raise InfrastructureError(f"The page {address} cannot be measured: it answers {answer.status_code}.")

    async def idle_share(self, events: str) -> float:
        """The part of a core that live pages cost while they are open and nothing happens."""
        heard = [asyncio.Event() for _ in range(OPEN_PAGES)]
        opened = [asyncio.create_task(self._listen(events, each)) for each in heard]
        try:
            await asyncio.wait_for(asyncio.gather(*(each.wait() for each in heard)), PATIENCE_SECONDS)
            await asyncio.sleep(SETTLE_SECONDS)
            watch = Stopwatch(self.processor)
            await asyncio.sleep(IDLE_SECONDS)
            return watch.cpu / watch.wall
        finally:
            for each in opened:
                each.cancel()
            await asyncio.gather(*opened, return_exceptions=True)

    async def _listen(self, events: str, heard: asyncio.Event) -> None:
        async with self.client.stream("GET", events, timeout=None) as answer:
            answer.raise_for_status()
            async for _ in answer.aiter_bytes():
                heard.set()


@asynccontextmanager
async def served(where: str, evals: Path, folder: Path, database: Sequence[psutil.Process]) -> AsyncIterator[Served]:
    """The reports are those of the folder. `database` are processes that work for this one."""
    began = time.perf_counter()
    options = ("--evals", str(evals), "--scores", where)
    limits = httpx2.Limits(max_connections=OPEN_PAGES + 1)
    async with (
        serving(options, folder, "serve.log") as (url, process_id),
        httpx2.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS, limits=limits, trust_env=False) as client,
    ):
        await client.get("/health")
        start = time.perf_counter() - began
        yield Served(client, Processor([psutil.Process(process_id), *database]), start)


@asynccontextmanager
async def serving(options: Sequence[str], folder: Path, log: str) -> AsyncIterator[tuple[str, int]]:
    """The address of a new server, and its process."""
    async with program(("convex_evals", "serve", "--port", "0", *options), folder, log) as server:
        said = await asyncio.wait_for(server.stdout.readline(), PATIENCE_SECONDS)
        found = re.search(rb"http://localhost:\d+", said)
        if found is None:
            raise InfrastructureError(f"`convex-evals serve` did not start: {last_words(folder / log)}")
        yield found[0].decode(), server.process.pid


@asynccontextmanager
async def program(words: Sequence[str], folder: Path, log: str) -> AsyncIterator[PipedProcess]:
    """A module of this Python with its arguments, run in `folder`. Its errors go to the file `log` there."""
    with (folder / log).open("wb") as errors:
        async with start_piped(
            (*PYTHON, *words),
            cwd=folder,
            stderr=errors.fileno(),
            environment=base_environment(folder),
            buffer_bytes=ANSWER_BYTES,
        ) as process:
            yield process


def last_words(log: Path) -> str:
    return " / ".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:]) or "it said nothing."
