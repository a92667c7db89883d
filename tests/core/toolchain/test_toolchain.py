"""The `convex` command that deploys comes from our store, whatever a project has installed."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.convex_versions import is_supported
from convex_evals.core.errors import ToolchainError
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import Toolchain, find_convex_cli, find_toolchain


@cache
def without_network() -> list[str]:
    """What to put before a command so that it has no network; nothing where the system does not let us."""
    command = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--net"]
    allowed = shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if allowed else []


async def call(toolchain: Toolchain, folder: Path, *arguments: str | Path) -> ProcessResult:
    """Runs a tool as we run tools: with hardly an environment and, where the system lets us, without a network."""
    environment = base_environment(folder, {"CI": "1"}, path=f"{toolchain.node.folder}:/usr/bin:/bin")
    return await run([*without_network(), *arguments], cwd=folder, timeout=60, environment=environment)


@pytest.fixture
def project(tmp_path: Path, toolchain: Toolchain) -> Path:
    """A project that finds the toolchain's packages."""
    (tmp_path / "node_modules").symlink_to(toolchain.packages.node_modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    return tmp_path


@pytest.mark.parametrize(
    ("name", "option", "printed"),
    [
        ("bun", "--version", "{bun}"),
        ("esbuild", "--version", "{esbuild}"),
        ("tsc", "--version", "Version {typescript-7}"),
        ("tsgolint", "--help", "tsgolint"),
    ],
)
async def test_native_programs_run_although_no_install_script_ran(
    toolchain: Toolchain, tmp_path: Path, name: str, option: str, printed: str
) -> None:
    binary = toolchain.binary(name)
    with binary.open("rb") as file:
        assert file.read(2) != b"#!"
    result = await call(toolchain, tmp_path, binary, option)
    versions = {package: toolchain.packages.version(package) for package in ("bun", "esbuild", "typescript-7")}
    assert result.ok
    assert printed.format(**versions) in result.output.text


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("convex", None),
        ("convex-latest", None),
        ("eslint", None),
        ("oxlint", None),
        ("typescript", "tsc"),
        ("vite", None),
        ("vitest", None),
    ],
)
async def test_node_scripts_run_and_say_their_locked_version(
    toolchain: Toolchain, tmp_path: Path, package: str, command: str | None
) -> None:
    result = await call(toolchain, tmp_path, *toolchain.node_command(package, command), "--version")
    assert result.ok
    assert toolchain.packages.version(package) in result.output.text


async def test_esbuild_bundles_for_convex_without_a_network(toolchain: Toolchain, project: Path) -> None:
    (project / "entry.ts").write_text('import { v } from "convex/values";\nconsole.log(v.string().kind);\n')
    build = await call(
        toolchain, project, toolchain.binary("esbuild"), "entry.ts", "--bundle", "--outfile=out.mjs", "--format=esm"
    )
    assert build.ok, build.output.text
    assert (await call(toolchain, project, toolchain.node.executable, "out.mjs")).output.text == "string\n"


@pytest.mark.parametrize("compiler", ["7", "5.9"])
async def test_both_compilers_find_the_same_mistake(toolchain: Toolchain, project: Path, compiler: str) -> None:
    (project / "wrong.ts").write_text('export const count: number = "one";\n')
    tsc = [str(toolchain.binary("tsc"))] if compiler == "7" else toolchain.node_command("typescript", "tsc")
    result = await call(
        toolchain, project, *tsc, "--noEmit", "--strict", "--skipLibCheck", "--types", "node", "wrong.ts"
    )
    assert not result.ok
    assert "wrong.ts(1,14): error TS2322" in result.output.text


@pytest.mark.parametrize("linter", ["oxlint", "eslint"])
async def test_both_linters_know_types(toolchain: Toolchain, project: Path, linter: str) -> None:
    (project / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}, "include": ["*.ts"]}')
    (project / "floating.ts").write_text("async function later(): Promise<void> {}\nlater();\n")
    if linter == "oxlint":
        rule = ["--type-aware", "--deny", "typescript/no-floating-promises"]
    else:
        (project / "eslint.config.js").write_text(
            'import tseslint from "typescript-eslint";\n'
            "export default [{ ...tseslint.configs.base, files: ['*.ts'], languageOptions: { parser: tseslint.parser,"
            " parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },"
            ' rules: { "@typescript-eslint/no-floating-promises": "error" } }];\n'
        )
        rule = []
    result = await call(toolchain, project, *toolchain.node_command(linter), *rule, "floating.ts")
    assert result.exit_code == 1, result.output.text
    assert "no-floating-promises" in result.output.text


async def test_vitest_runs_a_test_of_a_convex_function(toolchain: Toolchain, project: Path) -> None:
    (project / "convex").mkdir()
    (project / "convex/hello.ts").write_text(
        'import { queryGeneric } from "convex/server";\nexport const hello = queryGeneric(async () => "hello");\n'
    )
    (project / "convex/_generated").mkdir()
    (project / "convex/_generated/api.js").write_text("export {};\n")
    (project / "hello.test.ts").write_text(
        'import { convexTest } from "convex-test";\nimport { anyApi } from "convex/server";\n'
        'import { expect, test } from "vitest";\n'
        'const modules = import.meta.glob("./convex/**/*.*s");\n'
        'test("hello", async () => {\n'
        '  expect(await convexTest(undefined, modules).query(anyApi.hello.hello, {})).toBe("hello");\n});\n'
    )
    result = await call(
        toolchain, project, *toolchain.node_command("vitest"), "run", "--environment=edge-runtime", "--no-cache"
    )
    assert result.ok, result.output.text


async def test_an_installed_toolchain_is_found_without_a_network(toolchain: Toolchain, tmp_path: Path) -> None:
    settings = read_settings()
    source = f"""
import asyncio
from pathlib import Path
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import prepare_toolchain
settings = Settings(home=Path("/nonexistent"), cache_folder=Path({str(settings.cache_folder)!r}))
print(asyncio.run(prepare_toolchain(settings)).fingerprint)
"""
    result = await call(toolchain, tmp_path, sys.executable, "-c", source)
    assert result.output.text == f"{toolchain.fingerprint}\n"


async def test_a_toolchain_that_is_not_installed_is_not_found(tmp_path: Path) -> None:
    assert await find_toolchain(Settings(home=tmp_path, cache_folder=tmp_path / "cache")) is None
    assert not (tmp_path / "cache").exists()


def test_a_tool_that_is_not_there_is_a_toolchain_error(toolchain: Toolchain) -> None:
    with pytest.raises(ToolchainError, match="'prettier' is not a native program; there are bun, esbuild, tsc"):
        toolchain.binary("prettier")
    with pytest.raises(ToolchainError, match="The package 'left-pad' is not among the installed ones"):
        toolchain.node_script("left-pad")
    with pytest.raises(ToolchainError, match="has no command 'typescript'; it has: tsc, tsserver"):
        toolchain.node_script("typescript")
    with pytest.raises(ToolchainError, match="has no command 'react'; it has: none"):
        toolchain.node_script("react")


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
