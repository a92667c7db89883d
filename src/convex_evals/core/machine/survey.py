"""All facts, gathered at once, in the order in which they are shown."""

import asyncio

from convex_evals.core.distribution import BROWSER, POSTGRES
from convex_evals.core.errors import ToolchainError
from convex_evals.core.machine import facts, registries, sandbox
from convex_evals.core.machine.facts import Fact
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
        facts.python_fact(),
        facts.node_fact(node),
        facts.toolchain_fact(node, settings),
        facts.extra_fact(BROWSER),
        facts.extra_fact(POSTGRES),
        facts.disk_fact(settings.cache_folder),
        facts.memory_fact(),
        *sandbox.sandbox_facts(mechanisms, permission),
        *reachable,
        facts.provider_keys_fact(settings),
    )


async def _node_or_error(settings: Settings) -> Node | ToolchainError:
    try:
        return await find_node(settings)
    except ToolchainError as error:
        return error


async def _nothing() -> tuple[Fact, ...]:
    return ()
