"""The real `convex` command: which one, how it is called, and what of its output matters."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.grading.types import GradedDeployment
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools

OLDEST: Final = (1, 31)  # older ones speak a deploy API that deployments do not
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_CHATTER: Final = re.compile(r"▌|- \w+.*\.\.\.$|Saved CONVEX_URL|A (minor|patch|major) update is available|\s*$")
_LONGEST_EXCERPT: Final = 4000


@dataclass(frozen=True, slots=True)
class ConvexCli:
    """`belongs_to_project`: it is the one that the project itself installed."""

    script: Path
    version: str
    belongs_to_project: bool


def find_cli(project: Path, tools: Tools) -> ConvexCli:
    """The project's own command when it is new enough, else ours."""
    package = project / "node_modules/convex"
    version = installed_version(package)
    script = package / "bin/main.js"
    if version is not None and _release(version) >= OLDEST and script.is_file():
        return ConvexCli(script, version, belongs_to_project=True)
    packages = tools.toolchain.packages
    return ConvexCli(packages.node_script("convex"), packages.version("convex"), belongs_to_project=False)


def installed_version(package: Path) -> str | None:
    """None unless the folder holds the package of that name: an alias is not it."""
    try:
        manifest = json.loads((package / "package.json").read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("name") != package.name:
        return None
    return str(manifest.get("version"))


async def push(step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment) -> ProcessResult:
    """Generates code and deploys. The type check is a step of its own."""
    options = ["dev", "--once", "--typecheck", "disable", "--tail-logs", "disable"]
    return await _run(step, cli, project, target, options)


async def write_push_request(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, path: Path
) -> ProcessResult:
    """Generates code and bundles, but writes to `path`.json what it would have sent."""
    options = ["deploy", "--yes", "--typecheck", "disable", "--push-all-modules", "--write-push-request", str(path)]
    return await _run(step, cli, project, target, options)


def excerpt_of(result: ProcessResult) -> str:
    """What the command said, without its progress."""
    text = _ANSI.sub("", result.output.read().decode(errors="replace"))
    lines = [line.rstrip() for line in text.splitlines() if not _CHATTER.match(line)]
    excerpt = "\n".join(lines) or f"The convex command ended with {result.ending} and said nothing."
    return excerpt if len(excerpt) <= _LONGEST_EXCERPT else f"{excerpt[:_LONGEST_EXCERPT]}\n… (complete in the log)"


async def _run(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, options: list[str]
) -> ProcessResult:
    """The key is in the environment: commands are logged."""
    environment = {
        "CONVEX_SELF_HOSTED_URL": target.url,
        "CONVEX_SELF_HOSTED_ADMIN_KEY": target.admin_key,
        "NODE_COMPILE_CACHE": str(step.tools.cache / "compiled"),
    }
    command = [str(step.tools.toolchain.node.executable), str(cli.script), *options]
    result = await step.run(command, cwd=project, network=True, environment=environment)
    (project / ".env.local").unlink(missing_ok=True)  # names our deployment; no part of the project
    return result


def _release(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)\.", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)
