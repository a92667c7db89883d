"""Bundles with the native esbuild and the CLI's own options: byte for byte what the CLI sends."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.deploy.cli import ConvexCli
from convex_evals.pipeline.deploy.entry_points import EntryPoints
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import linked_packages

Json = dict[str, Any]

# One folder deep inside the project, as in the CLI: source maps name files relative to it.
_OUTPUT: Final = ".convex-evals-out-"
_OPTIONS: Final = (
    "--bundle",
    "--format=esm",
    "--target=esnext",
    "--jsx=automatic",
    "--conditions=convex,module",
    "--sourcemap",
    "--sources-content=false",
    "--tree-shaking=true",
    "--minify-syntax",
    "--minify-identifiers",
    "--keep-names",
    '--define:process.env.NODE_ENV="production"',
    "--log-level=warning",
)


@dataclass(frozen=True, slots=True)
class Build:
    """One call of esbuild. Paths of modules are relative to `base`."""

    name: str
    base: Path
    entries: tuple[str, ...]
    platform: str = "browser"
    chunks: str = "_deps"
    splitting: bool = True

    @property
    def environment(self) -> str:
        return "node" if self.platform == "node" else "isolate"


@dataclass(frozen=True, slots=True)
class Implementation:
    """The bundled code of an app or a component, as start_push takes it."""

    schema: Json | None
    modules: list[Json]


def bundles_like(cli: ConvexCli, toolchain: Toolchain) -> bool:
    """Whether a `convex` command asks for exactly the esbuild that we have."""
    try:
        wanted = json.loads((cli.package / "package.json").read_bytes())["dependencies"]["esbuild"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(wanted == toolchain.packages.version("esbuild"))


async def bundle(
    step: RunningStep,
    project: Path,
    base: Path,
    found: EntryPoints,
    name: str = "app",
    *,
    packages_only: bool = False,
) -> Implementation | None:
    """What is in `base`, as `project` uses it; None when esbuild had anything to say. No two bundles at a time may have
    the same name. With `packages_only`, no file of the project can be in it."""
    builds = [
        Build(f"{name}-isolate", base, found.isolate),
        Build(f"{name}-node", base, found.node, "node", "_deps/node"),
        Build(f"{name}-auth", base, (found.auth,) if found.auth else (), splitting=False),
    ]
    schema = Build(f"{name}-schema", base, (found.schema,) if found.schema else ())
    doing = (_build(step, project, build, packages_only) for build in [*builds, schema])
    *modules, schemas = await asyncio.gather(*doing)
    if schemas is None or len(schemas) != len(schema.entries) or any(part is None for part in modules):
        return None
    return Implementation(next(iter(schemas), None), [module for part in modules for module in part or []])


async def _build(step: RunningStep, project: Path, build: Build, packages_only: bool) -> list[Json] | None:
    if not build.entries:
        return []
    output = f"{_OUTPUT}{build.name}"
    options = [
        *(str(build.base / entry) for entry in build.entries),
        *_OPTIONS,
        f"--platform={build.platform}",
        f"--chunk-names={build.chunks}/[hash]",
        f"--outbase={build.base}",
        *(["--splitting"] if build.splitting else []),
    ]
    (project / output).mkdir()
    try:
        is_silent = await run_esbuild(step, project, options, output, packages_only=packages_only)
        return _modules(project / output, build.environment) if is_silent else None
    finally:
        shutil.rmtree(project / output, ignore_errors=True)


async def run_esbuild(
    step: RunningStep, project: Path, options: Sequence[str], output: str, *, packages_only: bool = False
) -> bool:
    """Into the folder `output` of the project, which is there. Whether all is well, without any warning.

    With `packages_only`, it cannot read what the model wrote.
    """
    esbuild = step.tools.toolchain.binary("esbuild")
    readable = (esbuild, *linked_packages(project, step.tools), *(() if packages_only else (project,)))
    command = [str(esbuild), *options, f"--outdir={output}"]
    result = await step.run(command, cwd=project, read=readable, write=(project / output,))
    return result.ok and not result.output.size


def _modules(folder: Path, environment: str) -> list[Json]:
    return [
        {
            "path": path.relative_to(folder).as_posix(),
            "source": path.read_text(encoding="utf-8"),
            "sourceMap": path.with_name(f"{path.name}.map").read_text(encoding="utf-8"),
            "environment": environment,
        }
        for path in sorted(folder.rglob("*.js"))
    ]
