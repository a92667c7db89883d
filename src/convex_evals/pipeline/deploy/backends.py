"""Deployments to grade on: our own by default, the official executable or one that is already there by choice."""

import asyncio
import hashlib
import os
import secrets
import shutil
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.backend import LOCAL_ADMIN_KEY, LOCAL_NAME, LOCAL_SECRET
from convex_evals.core import convex_versions
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.files import file_lock
from convex_evals.core.processes import base_environment, start
from convex_evals.pipeline.grading import GradedDeployment, GraderNetwork
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions

if TYPE_CHECKING:
    from convex_evals.backend import Deployment, NetworkPolicy, PushRefusal

NOTHING: Final = GraderNetwork()
"""While no grader runs, functions may connect to nothing."""
OFFICIAL_PROGRAM: Final = "convex-local-backend"
_PATIENCE: Final = 20.0


@dataclass(frozen=True, slots=True)
class Backend:
    """A running deployment. `embedded` is the object itself when it lives in this process."""

    target: GradedDeployment
    embedded: "Deployment | None" = None

    async def is_pushed(self) -> bool:
        """What the deployment itself says: whether a push was finished on it."""
        if self.embedded is not None:
            return self.embedded.application is not None
        return bool((await config_hashes(self.target)).get("udfServerVersion"))

    def take_refusal(self) -> "PushRefusal | None":
        """Why our own deployment refused a push since the last call; other deployments do not say."""
        return self.embedded.pusher.take_refusal() if self.embedded is not None else None

    def provide_packages(self, node_modules: Path) -> None:
        """What `node.externalPackages` names is found there by our own deployment; others install it themselves."""
        if self.embedded is not None:
            self.embedded.runtime.provide_packages(node_modules)

    async def answers(self) -> bool:
        """Whether the deployment is alive and takes our key: if not, no failure of the CLI means anything."""
        try:
            return self.embedded is not None or "moduleHashes" in await config_hashes(self.target)
        except InfrastructureError:
            return False


def open_backend(
    options: GradingOptions,
    tools: Tools,
    folder: Path,
    *,
    network: "NetworkPolicy" = NOTHING,
    accept_local_key: bool = False,
) -> AbstractAsyncContextManager[Backend]:
    """The deployment for a model's project; `folder` is for what it stores.

    `network` decides where functions may connect to; `accept_local_key`: a foreign grader will come with the well-known
    admin key.
    """
    if options.backend == "embedded":
        return _embedded(tools, network, accept_local_key)
    if options.backend == "official":
        return _official(tools, folder)
    return _existing(options, tools)


def open_answer_backend(
    options: GradingOptions,
    tools: Tools,
    folder: Path,
    *,
    network: "NetworkPolicy" = NOTHING,
    accept_local_key: bool = False,
    warm: bool = True,
) -> AbstractAsyncContextManager[Backend]:
    """The one for the reference answer: of the same kind, except that a URL names only one deployment. If not `warm`,
    it has no worker before a function is called: most graders ask only for its schema and the kinds of its functions.
    """
    if options.backend == "official":
        return _official(tools, folder)
    return _embedded(tools, network, accept_local_key, warm)


@asynccontextmanager
async def _embedded(
    tools: Tools, network: "NetworkPolicy", accept_local_key: bool, warm: bool = True
) -> AsyncIterator[Backend]:
    from convex_evals.backend import Deployment, DeploymentSettings

    sdk = tools.toolchain.packages.package("convex")
    settings = DeploymentSettings(
        sdk=sdk, network=network, accept_local_key=accept_local_key, simulation=True, warm=warm
    )
    async with Deployment.run(settings) as deployment:
        yield Backend(GradedDeployment(deployment.url, deployment.site_url, deployment.admin_key), deployment)


@asynccontextmanager
async def _existing(options: GradingOptions, tools: Tools) -> AsyncIterator[Backend]:
    """Emptied first, because what an earlier eval left there may not fit the next schema; one grading at a time."""
    backend = Backend(await find_deployment(options.backend.rstrip("/"), options.admin_key or LOCAL_ADMIN_KEY))
    locks = tools.settings.cache_folder / "deployments"
    locks.mkdir(parents=True, exist_ok=True)
    async with file_lock(locks / f"{hashlib.sha256(backend.target.url.encode()).hexdigest()[:16]}.lock"):
        await asyncio.to_thread(_empty, backend.target)
        yield backend


def _empty(target: GradedDeployment) -> None:
    from convex_evals.pipeline.grading.kit import Clock, DeploymentTrouble, Transport, clean

    try:
        clean(Transport("project", target.url, target.site_url, target.admin_key, Clock()))
    except DeploymentTrouble as error:
        raise InfrastructureError(f"The deployment at {target.url} cannot be emptied: {error}") from error


@asynccontextmanager
async def _official(tools: Tools, folder: Path) -> AsyncIterator[Backend]:
    program = shutil.which(OFFICIAL_PROGRAM, path=tools.settings.search_path)
    if program is None:
        raise InfrastructureError(
            f"--backend official needs the program {OFFICIAL_PROGRAM} on PATH; install it or use --backend embedded."
        )
    port, site_port = _free_port(), _free_port()
    target = GradedDeployment(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{site_port}", LOCAL_ADMIN_KEY)
    command = [program, "--port", str(port), "--site-proxy-port", str(site_port)]
    command += ["--instance-name", LOCAL_NAME, "--instance-secret", LOCAL_SECRET]
    command += ["--local-storage", str(folder / "storage"), str(folder / f"{secrets.token_hex(4)}.sqlite3")]
    output = _open_log(folder)
    silence = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        process = await start(
            command,
            cwd=folder,
            stdin=silence,
            stdout=output,
            stderr=output,
            environment=base_environment(folder),
            timeout=None,
        )
        async with process:
            if not await answers_in_time(target.url, _PATIENCE):
                said = folder / "backend.log"
                raise InfrastructureError(f"{OFFICIAL_PROGRAM} did not answer within {_PATIENCE:g} s; see {said}.")
            yield Backend(target)
    finally:
        os.close(output)
        os.close(silence)


def _open_log(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / "backend.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def find_deployment(url: str, admin_key: str) -> GradedDeployment:
    """Raises InfrastructureError when it does not answer, or refuses the key."""
    answer = await _ask("GET", url, admin_key, "/api/v1/get_canonical_urls")
    if "convexSiteUrl" not in answer:
        raise InfrastructureError(f"The deployment at {url} does not say where its HTTP actions are.")
    return GradedDeployment(url, str(answer["convexSiteUrl"]), admin_key)


async def config_hashes(target: GradedDeployment) -> dict[str, object]:
    """What is deployed there. Raises InfrastructureError like `find_deployment`."""
    body = {"version": convex_versions.DEFAULT, "adminKey": target.admin_key}
    return await _ask("POST", target.url, target.admin_key, "/api/get_config_hashes", body)


async def answers_in_time(url: str, seconds: float) -> bool:
    """Asks a deployment that was just started until it answers."""
    import httpx2  # which our own deployments do not need

    deadline = time.monotonic() + seconds
    async with httpx2.AsyncClient(timeout=seconds) as client:
        while time.monotonic() < deadline:
            try:
                if (await client.get(f"{url}/version")).is_success:
                    return True
            except httpx2.TransportError:
                pass  # it does not listen yet
            await asyncio.sleep(0.05)
    return False


async def _ask(method: str, url: str, admin_key: str, path: str, body: object = None) -> dict[str, object]:
    import httpx2

    headers = {"Authorization": f"Convex {admin_key}"}
    try:
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=_PATIENCE) as client:
            response = await client.request(method, path, json=body)
        response.raise_for_status()
        return dict(response.json())
    except (httpx2.HTTPError, ValueError, TypeError) as error:
        raise InfrastructureError(f"The deployment at {url} does not answer as one should: {error}") from error
