"""A deployment in the foreground of a terminal, until somebody stops it."""

import asyncio
import signal
from collections.abc import Callable

from convex_evals.backend.deployment import Deployment, DeploymentSettings

SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def run_backend_in_foreground(settings: DeploymentSettings, say: Callable[[str], None] = print) -> None:
    """Returns after SIGINT or SIGTERM, with everything stopped."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stopped.set)
    try:
        async with Deployment.run(settings) as deployment:
            say(f"Deployment {deployment.instance_name} is running at {deployment.url}")
            say(f"HTTP actions: {deployment.site_url}")
            say(f"Admin key:    {deployment.admin_key}")
            await stopped.wait()
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
