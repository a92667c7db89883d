"""Puts real `serve` processes under load: runners that record and people who look, on one database, all at once."""

import asyncio
import random
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import msgspec
from msgspec.structs import replace

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import new_id, prefix
from convex_evals.core.processes import PipedProcess
from convex_evals.scores import RunFilter, ScoresStore, artifacts_of, encode, upgrade_database
from convex_evals.statistics import quantile
from convex_evals.suite import load_suite, own_suite
from convex_evals.web.bench.recorders import Answered, Recorded, Recorder, Work
from convex_evals.web.bench.run import Remark, fill
from convex_evals.web.bench.served import last_words, program, serving

NAME: Final = "bench"
RUNNERS_PER_PROCESS: Final = 10
READER_SECONDS: Final = 60.0
LOOKED_AT: Final = 100


@dataclass(frozen=True, slots=True)
class Load:
    """`pause` is how long readers look at a page on the average, in seconds; `history` is how many runs are there."""

    servers: int
    runners: int
    evals: int = 10
    readers: int = 200
    pause: float = 10.0
    history: int = 100


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """Milliseconds. `statuses` counts answers; those without an answer are under 0."""

    kind: str
    count: int
    p50: float
    p95: float
    max: float
    statuses: dict[int, int]


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """`lost` says what is not at the service as its runner recorded it; `slowest_run` is until all of it was there."""

    database: str
    load: Load
    seconds: float
    slowest_run: float
    records: int
    artifacts: int
    caught_up: int
    lost: tuple[str, ...]
    requests: tuple[RequestFigures, ...]

    @property
    def failures(self) -> int:
        """Requests that were refused or got no answer."""
        counts = ((status, number) for each in self.requests for status, number in each.statuses.items())
        return sum(number for status, number in counts if not 200 <= status < 400)

    @property
    def ok(self) -> bool:
        return not self.lost and not self.failures

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "failures": self.failures, "ok": self.ok}


async def measure_service(where: str | None, load: Load, remark: Remark) -> ServiceFigures:
    """`where` is an empty database, or one that a benchmark filled before; a temporary SQLite file without one."""
    if load.servers > 1 and (where is None or "://" not in where):
        raise UsageError("Several servers need PostgreSQL: name a database with --scores postgresql://….")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        scores = where or str(folder / "service.db")
        with ScoresStore.open(scores) as store:
            fill(store, load.history, remark)
            store.deployment.mark(NAME)
            return await _measure(store, scores, load, folder, remark)


async def _measure(store: ScoresStore, scores: str, load: Load, folder: Path, remark: Remark) -> ServiceFigures:
    before = {key.id for key in store.history.index()}
    options = ("--read", "token", "--scores", scores)
    async with AsyncExitStack() as stack:
        urls = [
            (await stack.enter_async_context(serving(options, folder, f"server-{number}.log")))[0]
            for number in range(load.servers)
        ]
        runners = [
            await stack.enter_async_context(_runners(work, folder)) for work in _works(store, urls, load, folder)
        ]
        remark(f"{load.runners} runners record and {load.readers} readers look at {len(urls)} `serve` processes.")
        start = time.perf_counter()
        async with _readers(store, urls, load) as read:
            recorded = [each for some in await asyncio.gather(*map(_record, runners)) for each in some]
        seconds = time.perf_counter() - start
    remark("Comparing what the service has with what the runners recorded.")
    compared = await asyncio.to_thread(lambda: [compare(store, each) for each in recorded])
    unknown = {key.id for key in store.history.index()} - before - {each.run_id for each in recorded}
    return ServiceFigures(
        store.location,
        load,
        seconds,
        max(each.seconds for each in recorded),
        sum(each.records for each in compared),
        sum(each.artifacts for each in compared),
        sum(each.caught_up for each in recorded),
        (*(lost for each in compared for lost in each.lost), *(f"run {prefix(each)} is nobody's" for each in unknown)),
        tuple(_summaries([*read, *(request for each in recorded for request in each.requests)])),
    )


# Processes


@asynccontextmanager
async def _runners(work: Work, folder: Path) -> AsyncIterator[tuple[PipedProcess, Path]]:
    """Ready to begin."""
    name = f"runners-{new_id()}.log"
    async with program(("convex_evals.web.bench.recorders",), folder, name) as process:
        process.stdin.write(msgspec.json.encode(work) + b"\n")
        if await process.stdout.readline() != b"ready\n":
            raise InfrastructureError(f"The runners did not start: {last_words(folder / name)}")
        yield process, folder / name


async def _record(runners: tuple[PipedProcess, Path]) -> list[Recorded]:
    process, log = runners
    process.stdin.write(b"go\n")
    answer = await process.stdout.readline()
    if not answer:
        raise InfrastructureError(f"The runners broke off: {last_words(log)}")
    return msgspec.json.decode(answer, type=list[Recorded])


def _works(store: ScoresStore, urls: Sequence[str], load: Load, folder: Path) -> Iterator[Work]:
    """Every runner has a database and a token of its own, and sends to the servers in turn."""
    template = folder / "template.db"
    upgrade_database(template)
    recorders = []
    for number, token in enumerate(_tokens(store, "record", load.runners)):
        scores = shutil.copy(template, folder / f"runner-{number}.db")
        recorders.append(Recorder(str(scores), urls[number % len(urls)], token))
    evals = [each.id for each in load_suite(own_suite()).evals][: load.evals]
    for first in range(0, load.runners, RUNNERS_PER_PROCESS):
        yield Work(recorders[first : first + RUNNERS_PER_PROCESS], evals)


def _tokens(store: ScoresStore, right: Any, number: int) -> list[str]:
    name = f"bench-{new_id()[:8]}"
    return [store.tokens.create(f"{name}-{each}", [right]).token for each in range(number)]


# Readers


@asynccontextmanager
async def _readers(store: ScoresStore, urls: Sequence[str], load: Load) -> AsyncIterator[list[Answered]]:
    """What they were answered, until the context ends."""
    answered: list[Answered] = []
    runs = _newest_runs(store)
    tokens = await asyncio.to_thread(_tokens, store, "read", load.readers)
    async with AsyncExitStack() as stack:
        work = [_follow(store, runs)]
        for number, token in enumerate(tokens):
            headers = {"authorization": f"Bearer {token}"}
            client = httpx2.AsyncClient(
                base_url=urls[number % len(urls)], headers=headers, timeout=READER_SECONDS, trust_env=False
            )
            await stack.enter_async_context(client)
            work.append(_read(client, runs, load.pause, random.Random(number), answered))
        tasks = [asyncio.create_task(each) for each in work]
        try:
            yield answered
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in ended:
        if not isinstance(error, asyncio.CancelledError) and error is not None:
            raise error


async def _follow(store: ScoresStore, runs: list[str]) -> None:
    """Those that are recorded meanwhile are looked at, too."""
    while True:
        runs[:] = await asyncio.to_thread(_newest_runs, store)
        await asyncio.sleep(1)


def _newest_runs(store: ScoresStore) -> list[str]:
    return [run.id for run in store.runs(RunFilter(experiment="default", limit=LOOKED_AT))]


async def _read(
    client: httpx2.AsyncClient, runs: list[str], pause: float, chance: random.Random, answered: list[Answered]
) -> None:
    """The leaderboard and the newest runs in turn, never two pages at the same moment."""
    while True:
        await asyncio.sleep(chance.uniform(0, 2 * pause))
        await _look(client, "leaderboard", "/leaderboard", answered)
        await asyncio.sleep(chance.uniform(0, 2 * pause))
        run = chance.choice(runs)
        await _look(client, "page of a run", f"/experiment/default/run/{run}", answered)


async def _look(client: httpx2.AsyncClient, kind: str, address: str, answered: list[Answered]) -> None:
    start, status = time.perf_counter(), 0
    with suppress(httpx2.HTTPError):
        status = (await client.get(address)).status_code
    answered.append(Answered(kind, status, (time.perf_counter() - start) * 1000))


# Figures


@dataclass(frozen=True, slots=True)
class Comparison:
    records: int
    artifacts: int
    lost: tuple[str, ...]


def compare(service: ScoresStore, recorded: Recorded) -> Comparison:
    """Bit for bit, except since when the model they share is known: that is what the first of them says."""
    with ScoresStore.open(recorded.scores) as own:
        records, run = own.outbox.records(recorded.run_id), prefix(recorded.run_id)
        artifacts = artifacts_of(records)
        lost = [f"artifact {each} of run {run}" for each in artifacts if not _has_same(own, service, each)]
        if _comparable(service.outbox.records(recorded.run_id)) != _comparable(records):
            lost.append(f"records of run {run}")
        return Comparison(len(records), len(artifacts), tuple(lost))


def _comparable(records: Sequence[Any]) -> bytes:
    changes = {"model_created_at": None}
    return encode([replace(each, **changes) if hasattr(each, "model_created_at") else each for each in records])


def _has_same(own: ScoresStore, service: ScoresStore, artifact: str) -> bool:
    try:
        return own.read_bytes(artifact) == service.read_bytes(artifact)
    except UsageError:
        return False


def _summaries(answered: Iterable[Answered]) -> Iterator[RequestFigures]:
    by_kind: defaultdict[str, list[Answered]] = defaultdict(list)
    for each in answered:
        by_kind[each.kind].append(each)
    for kind, some in sorted(by_kind.items()):
        times = sorted(each.ms for each in some)
        statuses = dict(sorted(Counter(each.status for each in some).items()))
        yield RequestFigures(kind, len(times), quantile(times, 0.5), quantile(times, 0.95), times[-1], statuses)
