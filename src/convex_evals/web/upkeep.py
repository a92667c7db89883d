"""What a server does without being asked: prepares what pages need, and marks runs whose runners are gone."""

import asyncio
import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from convex_evals.analysis import suite_health
from convex_evals.core.errors import ConvexEvalsError
from convex_evals.runner import WITH_GUIDELINES, WITHOUT_GUIDELINES
from convex_evals.web.pages import load_templates
from convex_evals.web.results import Results, ResultsCache

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore
    from convex_evals.suite import Suite

SECONDS: Final = 15.0
PREPARATION_SECONDS: Final = 2.0
logger = logging.getLogger(__name__)


async def keep_up(store: "ScoresStore", seconds: float = SECONDS) -> None:
    """Until it is cancelled. Several servers on one database do not get into each other's way."""
    while True:
        try:
            for run_id in await asyncio.to_thread(store.leases.end_overdue):
                logger.warning("nothing is heard from the runner of run %s", run_id)
            await asyncio.to_thread(store.uploads.forget_old_parts)
        except ConvexEvalsError as error:
            logger.error("%s", error)
        await asyncio.sleep(seconds)


async def keep_prepared(cache: ResultsCache, suite: "Suite | None", seconds: float = PREPARATION_SECONDS) -> None:
    """Until it is cancelled. Whoever comes first after the start or after a change does not pay for all."""
    await asyncio.to_thread(load_templates)
    await _prepare(cache, suite)
    gc.freeze()  # what is kept is large: looking through it for garbage would take longer than a page
    while True:
        await asyncio.sleep(seconds)
        await _prepare(cache, suite)


async def _prepare(cache: ResultsCache, suite: "Suite | None") -> None:
    with suppress(ConvexEvalsError):  # whoever asks for a page is told
        for step in preparation(cache, suite):
            await asyncio.to_thread(step)


def preparation(cache: ResultsCache, suite: "Suite | None") -> Iterator[Callable[[], object]]:
    """What takes longest, step by step. As long as nothing changes there is nothing to do."""
    results = Results(cache)
    yield results.runs
    yield lambda: [(each.score, each.standings, each.cost, each.tokens) for each in results.settled_runs()]
    for benchmark in results.benchmarks()[:1]:
        for experiment in (WITH_GUIDELINES, WITHOUT_GUIDELINES):
            yield partial(results.leaderboard, benchmark, experiment, suite)
    yield lambda: results.once_settled("health", lambda: suite_health(cache.store))
