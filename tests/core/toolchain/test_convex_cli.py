"""The `convex` command that deploys comes from our store, whatever a project has installed."""

from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.convex_versions import is_supported
from convex_evals.core.errors import ToolchainError
from convex_evals.core.processes import run
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Toolchain, find_convex_cli


@pytest.mark.parametrize("name", ["convex", "convex-latest"])
async def test_the_toolchains_own_versions_need_no_installation(
    toolchain: Toolchain, settings: Settings, registry: Any, name: str
) -> None:
    version = toolchain.packages.version(name)
    cli = await find_convex_cli(toolchain, settings, version)
    assert (cli.version, cli.packages) == (version, toolchain.packages)
    assert cli.script.is_relative_to(toolchain.packages.folder)
    assert registry.requests == []


async def test_without_a_version_it_is_the_toolchains(toolchain: Toolchain, settings: Settings) -> None:
    assert (await find_convex_cli(toolchain, settings)).version == toolchain.packages.version("convex")


async def test_another_version_is_installed_once(
    toolchain: Toolchain, settings: Settings, registry: Any, tmp_path: Path
) -> None:
    registry.publish("convex", "1.32.1", {"bin/main.js": "console.log('1.32.1')"}, bin={"convex": "bin/main.js"})
    cli = await find_convex_cli(toolchain, settings, "1.32.1")
    asked = len(registry.requests)
    assert cli == await find_convex_cli(toolchain, settings, "1.32.1")
    assert len(registry.requests) == asked > 0
    assert cli.script.is_relative_to(settings.cache_folder / "toolchain")
    printed = await run([toolchain.node.executable, cli.script], cwd=tmp_path, timeout=60)
    assert printed.output.text == "1.32.1\n"


@pytest.mark.parametrize(
    ("version", "usable"),
    [
        *(("1.31.0", True), ("1.48.0", True), ("1.40.1-alpha.0", True), ("2.0.0", True)),
        *(("1.30.9", False), ("0.99.0", False), ("latest", False), ("^1.40.0", False), ("", False)),
        *(("1.40.0\n", False), ("npm:evil@1.40.0", False), ("file:/etc", False), ("1.40", False)),
    ],
)
async def test_only_releases_that_deployments_understand_are_usable(
    toolchain: Toolchain, settings: Settings, registry: Any, version: str, usable: bool
) -> None:
    assert is_supported(version) is usable
    if not usable:
        with pytest.raises(ToolchainError, match=r"must be a release from 1\.31 on"):
            await find_convex_cli(toolchain, settings, version)
        assert registry.requests == []
