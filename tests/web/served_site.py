"""A site that clients which block can ask."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from convex_evals.core.http import LoopbackServer
from convex_evals.web import Site, create_app


@contextmanager
def serving(site: Site) -> Iterator[str]:
    """On a thread of its own; gives its address."""
    loop, addresses = asyncio.new_event_loop(), list[str]()
    ready, stopped = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with LoopbackServer() as server:
            await server.start(create_app(site))
            addresses.append(server.origin)
            ready.set()
            await stopped.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()
