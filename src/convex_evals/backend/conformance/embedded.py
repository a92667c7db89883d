"""Our own deployment as a target: it can be stopped and started again on the same data and ports."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import httpx2

from convex_evals.backend.conformance.target import Target
from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.backend.http.server import HOST
from convex_evals.core.toolchain import Toolchain


class EmbeddedDeployment:
    """`settings` name the ports after the first start, so that a restart is found at the same URLs."""

    def __init__(self, settings: DeploymentSettings) -> None:
        self._settings = settings
        self._stack = contextlib.AsyncExitStack()

    async def start(self) -> Deployment:
        deployment = await self._stack.enter_async_context(Deployment.run(self._settings))
        self._settings = replace(self._settings, port=_port(deployment.url), site_port=_port(deployment.site_url))
        return deployment

    async def stop(self) -> None:
        await self._stack.aclose()

    async def restart(self, pause: float = 0.0) -> None:
        await self.stop()
        with _kept(self._settings.port), _kept(self._settings.site_port):
            await asyncio.sleep(pause)
            self._stack = contextlib.AsyncExitStack()
            await self.start()


@contextlib.asynccontextmanager
async def embedded_target(toolchain: Toolchain, *, redact: bool = False) -> AsyncIterator[Target]:
    """An empty deployment that keeps its data on disk, so that checks may restart it."""
    with TemporaryDirectory(prefix="conformance-") as name:
        folder = Path(name)
        settings = DeploymentSettings(
            database=folder / "data.db", storage=folder / "storage", instance_secret="5e" * 32, redact=redact
        )
        embedded = EmbeddedDeployment(settings)
        deployment = await embedded.start()
        try:
            async with httpx2.AsyncClient(timeout=60) as http:
                yield Target(
                    deployment.url, deployment.site_url, deployment.admin_key, http, folder, toolchain, embedded
                )
        finally:
            await embedded.stop()


@contextlib.contextmanager
def _kept(port: int) -> Iterator[None]:
    """Nobody who asks for any free port gets this one; who asks for this one does."""
    with socket.socket() as placeholder:
        placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        placeholder.bind((HOST, port))
        yield


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None, f"{url} names no port"
    return port
