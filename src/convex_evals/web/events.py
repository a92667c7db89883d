"""What happens, told as it happens: one look at the scores a second, however many listen, and none when nobody does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import msgspec
from starlette.concurrency import run_in_threadpool

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.scores import Change, Pulse, differences
from convex_evals.web.site import Site

SECONDS: Final = 1.0
FIRST_LOOK_SECONDS: Final = 10.0
HEARTBEAT_SECONDS: Final = 20.0
MOST_WAITING: Final = 100
HEARTBEAT: Final = b": still here\n\n"
READY: Final = b'retry: 3000\nevent: ready\ndata: {"kind":"ready","run":null}\n\n'

logger = logging.getLogger(__name__)


class Broadcast:
    """Tells every listener what changed. A listener that does not keep up misses events; nobody waits for it."""

    def __init__(self, site: Site, seconds: float = SECONDS) -> None:
        self._site, self._seconds = site, seconds
        self._listeners: dict[asyncio.Queue[Change], str | None] = {}
        self._watch: asyncio.Task[None] | None = None
        self._looked = asyncio.Event()

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    async def stream(self, run: str | None = None) -> AsyncIterator[bytes]:
        """Server-sent events about one run, or about all.

        It is ready after the first look at the scores: a page reads them then, and whatever happens after that is
        told. The connection may be open earlier."""
        queue: asyncio.Queue[Change] = asyncio.Queue(MOST_WAITING)
        self._listeners[queue] = run
        self._begin()
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._looked.wait(), FIRST_LOOK_SECONDS)
            yield READY
            while True:
                try:
                    change = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield HEARTBEAT
                else:
                    yield b"event: change\ndata: " + msgspec.json.encode(change) + b"\n\n"
        finally:
            del self._listeners[queue]
            if not self._listeners and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    def _begin(self) -> None:
        if self._watch is None or self._watch.done():
            self._looked.clear()
            self._watch = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        """Counts changes; only when there were some it asks what they are."""
        before: Pulse | None = None
        seen: int | None = None
        changes = self._site.store.changes
        while True:
            try:
                count = await run_in_threadpool(changes.count)
                after = before if count == seen else await run_in_threadpool(changes.pulse)
            except ConvexEvalsError as error:
                logger.warning("Nobody can be told what happens: %s", error)
            else:
                for change in differences(before, after) if before is not None and after is not None else ():
                    self._tell(change)
                before, seen = after, count
                self._looked.set()
            await asyncio.sleep(self._seconds)

    def _tell(self, change: Change) -> None:
        for queue, run in self._listeners.items():
            if run in (None, change.run):
                with suppress(asyncio.QueueFull):
                    queue.put_nowait(change)
