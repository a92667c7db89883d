"""Deployments outside of this process, asked over HTTP."""

import asyncio
import time
from typing import Final

import httpx2

from convex_evals.core import convex_versions
from convex_evals.core.errors import InfrastructureError
from convex_evals.pipeline.grading import GradedDeployment

_PATIENCE: Final = 20.0


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
    headers = {"Authorization": f"Convex {admin_key}"}
    try:
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=_PATIENCE) as client:
            response = await client.request(method, path, json=body)
        response.raise_for_status()
        return dict(response.json())
    except (httpx2.HTTPError, ValueError, TypeError) as error:
        raise InfrastructureError(f"The deployment at {url} does not answer as one should: {error}") from error
