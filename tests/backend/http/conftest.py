from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest_asyncio

from convex_evals.backend.deployment import Deployment

Deploy = Any


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(deploy: Deploy) -> AsyncIterator[Deployment]:
    """One deployment for all tests of a module; they keep out of each other's way by channel."""
    async with Deployment.start(instance_name="happy-animal-123") as running:
        await deploy(running)
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(deployment: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as anonymous:
        yield anonymous


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def admin(deployment: Deployment) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Convex {deployment.admin_key}"}
    async with httpx2.AsyncClient(base_url=deployment.url, headers=headers, timeout=60) as administrator:
        yield administrator
