"""The real `convex` command: which one, how it is called, and what of its output matters."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.convex_versions import is_supported
from convex_evals.core.processes import ProcessResult
from convex_evals.core.toolchain import InstalledPackages, find_convex_cli
from convex_evals.pipeline.grading.types import GradedDeployment
from convex_evals.pipeline.step import RunningStep, output_of
from convex_evals.pipeline.tools import Tools, linked_packages

_CHATTER: Final = re.compile(r"▌|Saved CONVEX_URL|A (minor|patch|major) update is available|\s*+$")


@dataclass(frozen=True, slots=True)
class ConvexCli:
    """`packages` is the set of ours that it belongs to: nothing that a project installs is loaded by it.

    `matches_project`: it is of the version that the project installed.
    """

    packages: InstalledPackages
    script: Path
    version: str
    matches_project: bool

    @property
    def package(self) -> Path:
        return self.script.parents[1]


async def find_cli(project: Path, tools: Tools) -> ConvexCli:
    """Of the project's version when that is new enough, else our own. Raises ToolchainError."""
    version = installed_version(project / "node_modules/convex")
    wanted = version if version is not None and is_supported(version) else None
    found = await find_convex_cli(tools.toolchain, tools.settings, wanted)
    return ConvexCli(found.packages, found.script, found.version, matches_project=wanted is not None)


def installed_version(package: Path) -> str | None:
    """None unless the folder holds the package of that name: an alias is not it."""
    try:
        manifest = json.loads((package / "package.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict) or manifest.get("name") != package.name:
        return None
    return str(manifest.get("version"))


async def push(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, more: Sequence[Path] = ()
) -> ProcessResult:
    """Generates code and deploys. The type check is a step of its own."""
    options = ["dev", "--once", "--typecheck", "disable", "--tail-logs", "disable"]
    return await _run(step, cli, project, target, options, [project, *more])


async def write_push_request(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, path: Path, more: Sequence[Path] = ()
) -> ProcessResult:
    """Generates code and bundles, but writes to `path`.json what it would have sent."""
    options = ["deploy", "--yes", "--typecheck", "disable", "--push-all-modules", "--write-push-request", str(path)]
    return await _run(step, cli, project, target, options, [project, path.parent, *more])


def excerpt_of(result: ProcessResult) -> str:
    """What the command said, without its progress."""
    lines = [line.rstrip() for line in output_of(result.output).splitlines() if not _is_chatter(line)]
    return "\n".join(lines) or f"The convex command ended with {result.ending} and said nothing."


def compiled_code(tools: Tools) -> Path:
    """Node's compile cache: runs on our own files write it, others only read it."""
    return tools.cache / "compiled"


async def _run(
    step: RunningStep,
    cli: ConvexCli,
    project: Path,
    target: GradedDeployment,
    options: list[str],
    write: Sequence[Path],
) -> ProcessResult:
    """The key is in the environment: commands are logged."""
    compiled = compiled_code(step.tools)
    environment = {
        "CONVEX_SELF_HOSTED_URL": target.url,
        "CONVEX_SELF_HOSTED_ADMIN_KEY": target.admin_key,
        "NODE_COMPILE_CACHE": str(compiled),
    }
    result = await step.run(
        [str(step.tools.toolchain.node.executable), str(cli.script), *options],
        cwd=project,
        read=(cli.packages.folder, compiled, *linked_packages(project, step.tools)),
        write=write,
        url=target.url,
        environment=environment,
    )
    (project / ".env.local").unlink(missing_ok=True)  # names our deployment; no part of the project
    return result


def _is_chatter(line: str) -> bool:
    return (line.startswith("- ") and line.endswith("...")) or _CHATTER.match(line) is not None
