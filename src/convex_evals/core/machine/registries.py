"""Whether the package registries answer."""

import asyncio
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.machine.fact import Fact, Status
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Node

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
