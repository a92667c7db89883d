"""All facts about this machine, as `convex-evals doctor` shows them."""

import asyncio

from convex_evals.core.distribution import BROWSER, POSTGRES
from convex_evals.core.errors import ToolchainError
from convex_evals.core.machine.fact import Fact
from convex_evals.core.machine.registries import registry_facts
from convex_evals.core.machine.resources import disk_fact, memory_fact
from convex_evals.core.machine.sandbox import permissions_work, probe_sandbox
from convex_evals.core.machine.sandbox_facts import sandbox_facts
from convex_evals.core.machine.tools import (
    chromium_fact,
    extra_fact,
    node_fact,
    provider_keys_fact,
    python_fact,
    toolchain_fact,
)
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Node, find_node


async def gather_facts(settings: Settings, *, network: bool = True) -> tuple[Fact, ...]:
    """Looks at everything; changes nothing. `network=False` leaves the registries out."""
    node = await _node_or_error(settings)
    usable = node if isinstance(node, Node) else None
    support, permission, registries = await asyncio.gather(
        probe_sandbox(), permissions_work(usable), registry_facts(usable, settings) if network else _nothing()
    )
    return (
        python_fact(),
        node_fact(node),
        toolchain_fact(node, settings),
        extra_fact(BROWSER),
        chromium_fact(settings),
        extra_fact(POSTGRES),
        disk_fact(settings.cache_folder),
        memory_fact(),
        *sandbox_facts(support, permission),
        *registries,
        provider_keys_fact(settings),
    )


async def _node_or_error(settings: Settings) -> Node | ToolchainError:
    try:
        return await find_node(settings)
    except ToolchainError as error:
        return error


async def _nothing() -> tuple[Fact, ...]:
    return ()
