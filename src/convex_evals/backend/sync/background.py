"""Work that outlives the socket that asked for it."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

logger = logging.getLogger(__name__)


class Background:
    """Mutations and actions in flight. They end by themselves, or with the deployment."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.debug("a call ended with an error", exc_info=task.exception())

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
