"""Bundles a plain project with the native esbuild and the CLI's own options: byte for byte what the CLI sends."""

import asyncio
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.confinement import linked_packages
from convex_evals.pipeline.deploy.cli import ConvexCli
from convex_evals.pipeline.deploy.entry_points import EntryPoints
from convex_evals.pipeline.step import RunningStep

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
    """One call of esbuild."""

    name: str
    entries: tuple[str, ...]
    platform: str = "browser"
    chunks: str = "_deps"
    splitting: bool = True


def bundles_like(cli: ConvexCli, toolchain: Toolchain) -> bool:
    """Whether a `convex` command asks for exactly the esbuild that we have."""
    try:
        wanted = json.loads((cli.package / "package.json").read_bytes())["dependencies"]["esbuild"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(wanted == toolchain.packages.version("esbuild"))


async def bundle(step: RunningStep, project: Path, found: EntryPoints) -> Json | None:
    """`schema` and `changedModules` as start_push takes them; None when esbuild had anything to say."""
    builds = [Build("isolate", found.isolate), Build("node", found.node, "node", "_deps/node")]
    if found.auth:
        builds.append(Build("auth", (found.auth,), splitting=False))
    if found.schema:
        builds.append(Build("schema", (found.schema,)))
    wanted = [build for build in builds if build.entries]
    done = await asyncio.gather(*(_build(step, project, build) for build in wanted))
    if any(modules is None for modules in done):
        return None
    modules = {build.name: found or [] for build, found in zip(wanted, done, strict=True)}
    schema = modules.pop("schema", [None])
    if len(schema) != 1:
        return None
    return {"schema": schema[0], "changedModules": [module for part in modules.values() for module in part]}


async def _build(step: RunningStep, project: Path, build: Build) -> list[Json] | None:
    output = f"{_OUTPUT}{build.name}"
    convex = project / "convex"
    esbuild = step.tools.toolchain.binary("esbuild")
    command = [
        str(esbuild),
        *(str(convex / entry) for entry in build.entries),
        *_OPTIONS,
        f"--platform={build.platform}",
        f"--chunk-names={build.chunks}/[hash]",
        f"--outbase={convex}",
        f"--outdir={output}",
        *(["--splitting"] if build.splitting else []),
    ]
    (project / output).mkdir()
    try:
        readable = (esbuild, project, *linked_packages(project, step.tools))
        result = await step.run(command, cwd=project, read=readable, write=(project / output,))
        if not result.ok or result.output.size:
            return None
        return _modules(project / output, "node" if build.platform == "node" else "isolate")
    finally:
        shutil.rmtree(project / output, ignore_errors=True)


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
