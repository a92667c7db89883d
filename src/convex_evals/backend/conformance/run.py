"""Runs the checks against a target."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import httpx2

from convex_evals.backend.conformance.checklist import Check, ItemResult, Results
from convex_evals.backend.conformance.target import Pusher, Target, embedded_target, push_with_cli
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.toolchain import Toolchain

CHECK_SECONDS = 240.0
OnResult = Callable[[ItemResult], None]


class Deployments(Protocol):
    """Where targets come from."""

    name: str
    embedded: bool

    def target(self) -> contextlib.AbstractAsyncContextManager[Target]:
        """An empty deployment; for a remote target the one there is."""
        ...


class EmbeddedDeployments:
    name = "embedded"
    embedded = True

    def __init__(self, toolchain: Toolchain, pusher: Pusher = push_with_cli) -> None:
        self._toolchain, self._pusher = toolchain, pusher

    def target(self) -> contextlib.AbstractAsyncContextManager[Target]:
        return embedded_target(self._toolchain, self._pusher)


class RemoteDeployment:
    """A deployment someone else runs. Its code is replaced; the tables of the conformance app are used."""

    embedded = False

    def __init__(self, url: str, admin_key: str, toolchain: Toolchain) -> None:
        self.name = url.rstrip("/")
        self._admin_key = admin_key
        self._toolchain = toolchain

    @contextlib.asynccontextmanager
    async def target(self) -> AsyncIterator[Target]:
        with TemporaryDirectory(prefix="conformance-") as folder:
            async with httpx2.AsyncClient(timeout=60) as http:
                site_url = await self._site_url(http)
                yield Target(self.name, site_url, self._admin_key, http, Path(folder), self._toolchain)

    async def _site_url(self, http: httpx2.AsyncClient) -> str:
        try:
            response = await http.get(
                f"{self.name}/api/v1/get_canonical_urls", headers={"Authorization": f"Convex {self._admin_key}"}
            )
        except httpx2.TransportError as error:
            raise InfrastructureError(f"No deployment answers at {self.name} ({error}); check the URL.") from error
        if response.status_code != 200:
            raise InfrastructureError(
                f"The deployment at {self.name} refused the admin key ({response.status_code}); check --admin-key."
            )
        return str(response.json()["convexSiteUrl"])


async def run_checks(deployments: Deployments, checks: Sequence[Check], on_result: OnResult | None = None) -> Results:
    """Runs `checks`: ordinary ones together on one deployment, those that need their own afterwards."""
    results: dict[int, ItemResult] = {}

    def record(result: ItemResult) -> None:
        results[result.check.number] = result
        if on_result is not None:
            on_result(result)

    together = [check for check in checks if not check.owns_deployment]
    if together:
        async with deployments.target() as target:
            pushed = await target.push()
            if not pushed.ok:
                raise InfrastructureError(f"The conformance app could not be deployed: {pushed.output[-2000:]}")
            for check in together:
                record(await _run_one(check, target))
    for check in checks:
        if check.owns_deployment:
            record(await _run_alone(check, deployments))
    return Results(deployments.name, [results[check.number] for check in checks])


async def _run_alone(check: Check, deployments: Deployments) -> ItemResult:
    if check.embedded_only and not deployments.embedded:
        return _unsupported(check)
    async with deployments.target() as target:
        return await _run_one(check, target)


async def _run_one(check: Check, target: Target) -> ItemResult:
    if check.embedded_only and target.embedded is None:
        return _unsupported(check)
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check.body(target)
    except Exception as error:  # whatever a check trips over is a finding about the target
        return ItemResult(check, "failed", f"{type(error).__name__}: {error}"[:2000])
    return ItemResult(check, "passed")


def _unsupported(check: Check) -> ItemResult:
    return ItemResult(check, "unsupported", "needs control over the deployment's process")
