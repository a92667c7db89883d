"""Fills a database with generated runs, serves it, asks for every page again and again, and publishes it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import psutil

from convex_evals.core.errors import UsageError
from convex_evals.core.postgresql import find_postgresql, temporary_postgresql
from convex_evals.scores import GENERATED, ScoresStore, counted_statements
from convex_evals.statistics import quantile
from convex_evals.suite import load_suite, own_suite
from convex_evals.web.app import create_app
from convex_evals.web.bench.served import Served, served
from convex_evals.web.publication import publish
from convex_evals.web.site import Site
from convex_evals.web.static_files import FOLDER

Remark = Callable[[str], None]
FIRST: Final = "/leaderboard"
"""What is asked for at once, while the server still prepares itself."""


@dataclass(frozen=True, slots=True)
class PageFigures:
    """Times in milliseconds. `cpu` is what one answer costs the server, and its database if that is measured, too."""

    page: str
    first: float
    p50: float
    p95: float
    cpu: float
    statements: int
    bytes: int
    compressed: int


@dataclass(frozen=True, slots=True)
class Publishing:
    files: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class WebFigures:
    """Seconds, and `idle_share`: the part of a core that open live pages cost while nothing changes.

    `start` lasts until the first answer, `first_page` is the leaderboard right after that.
    """

    engine: str
    runs: int
    evals: int
    generated: float | None
    start: float
    first_page: float
    pages: tuple[PageFigures, ...]
    assets: int
    publishing: tuple[Publishing, ...]  # twice, or not at all
    idle_share: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@contextmanager
def temporary_database(remark: Remark) -> Iterator[tuple[str, psutil.Process]]:
    """An empty one on a PostgreSQL server of its own, and the process of that. Raises UsageError."""
    program = find_postgresql()
    if program is None:
        raise UsageError("PostgreSQL's server is not installed here; name a database of another one with --scores.")
    remark(f"Starting {program}.")
    with temporary_postgresql(program) as server:
        yield server.make("scores"), psutil.Process(server.process_id)


async def measure_web(
    where: str | None,
    runs: int,
    remark: Remark,
    database: Sequence[psutil.Process] = (),
    *,
    publishing: bool = True,
) -> WebFigures:
    """`where` is an empty database, or one that was filled here before; a temporary SQLite file without one.

    `database` are processes of a server whose work is counted, too.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        place = where or str(folder / "scores.db")
        with ScoresStore.open(place) as store:
            generated = fill(store, runs, remark)
            pages = addresses(store)
            site = Site(store, "generated", suite=load_suite(own_suite()), reports=folder / "reports")
            remark("Counting statements.")
            counted = await _count(site, pages)
            remark("Asking for every page.")
            async with served(place, own_suite(), folder, database) as server:
                first_page = await _first_page(server)
                await server.wait_until_quiet()
                measured = [await _measure(server, page, *counted[page]) for page in pages]
                idle = await server.idle_share(f"/api/v1/events?run={store.history.index()[0].id}")
            if publishing:
                remark("Publishing twice.")
            return WebFigures(
                "PostgreSQL" if "://" in place else "SQLite",
                len(store.history.index()),
                len(load_suite(own_suite()).evals),
                generated,
                server.start,
                first_page,
                tuple(measured),
                _assets(),
                tuple([await _publish(site, folder / "public") for _ in range(2 if publishing else 0)]),
                idle,
            )


def addresses(store: ScoresStore) -> list[str]:
    """One of each page."""
    newest, *others = [key for key in store.history.index() if key.status != "running"][:2]
    record = next(store.history.runs([newest.id]))
    eval = store.planned(newest.id)[0].eval
    run = f"/experiment/{record.experiment}/run/{newest.id}"
    return [
        *("/", "/leaderboard", "/leaderboard/without-guidelines", "/runs", run, f"{run}/{eval.partition('/')[0]}"),
        *(f"{run}/{eval}", f"/model/{record.provider}/{record.model.partition('/')[2]}", f"/eval/{eval}", "/matrix"),
        *(f"/compare?runs={newest.id},{others[0].id}", "/reports", "/graders", "/schedule", "/search?q=model"),
        "/leaderboard.json",
    ]


def fill(store: ScoresStore, runs: int, remark: Remark) -> float | None:
    """How long that took; None if it was filled before."""
    known = store.runs()
    if not all(GENERATED in run.labels for run in known):
        raise UsageError(f"{store.location} has runs that are not generated; name an empty database.")
    if known:
        return None
    remark(f"Generating {runs} runs of every eval in {store.location}.")
    start = time.perf_counter()
    store.fill_with_generated_runs([each.id for each in load_suite(own_suite()).evals], runs)
    return time.perf_counter() - start


async def _count(site: Site, pages: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """By page, its statements once everything is computed, and its size, plain and as it is sent."""
    found: dict[str, tuple[int, int, int]] = {}
    transport = httpx2.ASGITransport(app=create_app(site))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for page in pages:
            await client.get(page)
            with counted_statements() as statements:
                answer = await client.get(page)
            sent = int(answer.headers.get("content-length", len(answer.content)))
            found[page] = (len(statements), len(answer.content), sent)
    return found


async def _first_page(server: Served) -> float:
    start = time.perf_counter()
    await server.client.get(FIRST)
    return time.perf_counter() - start


async def _measure(server: Served, page: str, statements: int, size: int, sent: int) -> PageFigures:
    first, times, cpu = await server.measure(page)
    return PageFigures(page, first, quantile(times, 0.5), quantile(times, 0.95), cpu, statements, size, sent)


async def _publish(site: Site, folder: Path) -> Publishing:
    start, used = time.perf_counter(), time.process_time()
    done = await publish(site, folder)
    return Publishing(done.total, time.perf_counter() - start, time.process_time() - used)


def _assets() -> int:
    return sum(path.stat().st_size for path in FOLDER.rglob("*") if path.suffix in (".js", ".css"))
