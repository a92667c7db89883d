"""All facts, gathered at once, in the order in which they are shown."""

import asyncio

from convex_evals.core.errors import ToolchainError
from convex_evals.core.extras import BROWSER, POSTGRES
from convex_evals.core.machine import registries, resources, sandbox, software
from convex_evals.core.machine.fact import Fact
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Node, find_node


async def gather_facts(settings: Settings, *, network: bool = True) -> tuple[Fact, ...]:
    """Looks at everything; changes nothing. `network=False` leaves the registries out."""
    node = await _node_or_error(settings)
    usable = node if isinstance(node, Node) else None
    questions = registries.gather(usable, settings) if network else _nothing()
    mechanisms, permission, reachable = await asyncio.gather(
        sandbox.probe_sandbox(), sandbox.permissions_work(usable), questions
    )
    return (
        software.python_fact(),
        software.node_fact(node),
        software.toolchain_fact(node, settings),
        software.extra_fact(BROWSER),
        software.extra_fact(POSTGRES),
        resources.disk_fact(settings.cache_folder),
        resources.memory_fact(),
        *sandbox.sandbox_facts(mechanisms, permission),
        *reachable,
        software.provider_keys_fact(settings),
    )


async def _node_or_error(settings: Settings) -> Node | ToolchainError:
    try:
        return await find_node(settings)
    except ToolchainError as error:
        return error


async def _nothing() -> tuple[Fact, ...]:
    return ()
