"""Deploys the project, and asks the deployment whether the push arrived."""

import json
from pathlib import Path

from convex_evals.backend import SystemFailure
from convex_evals.core.convex_versions import OLDEST
from convex_evals.core.diagnostics import Diagnostic, stated
from convex_evals.core.processes import ProcessResult
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import installed_version
from convex_evals.pipeline.deploy.backends import Backend
from convex_evals.pipeline.deploy.cli import (
    ConvexCli,
    excerpt_of,
    find_cli,
    push,
    read_cli_errors,
    refusal_diagnostic,
)
from convex_evals.pipeline.deploy.codegen import ask_cli
from convex_evals.pipeline.deploy.direct import Refused, build_request, push_request
from convex_evals.pipeline.project_config import FILE, ConfigError, read_config
from convex_evals.pipeline.step import RunningStep, blame, output_of, works
from convex_evals.pipeline.tools import linked_packages
from convex_evals.pipeline.types import GradingOptions


async def deploy_project(step: RunningStep, backend: Backend, options: GradingOptions) -> StepResult:
    project = step.workspace.project
    try:
        _settle_config(step, project)
    except ConfigError as error:
        return step.failed("deploy-refused", str(error), [stated("deploy", None, str(error), error.place)])
    for packages in linked_packages(project, step.tools):
        backend.provide_packages(packages / "node_modules")
    cli = await find_cli(project, step.tools)
    _note_version(step, cli)
    try:
        if options.fast_push and await _push_directly(step, cli, backend):
            return step.passed()
        return await _push_with_cli(step, cli, backend)
    except SystemFailure as error:
        return step.failed("backend-failed", f"The deployment failed: {error}")


async def _push_directly(step: RunningStep, cli: ConvexCli, backend: Backend) -> bool:
    if backend.embedded is None:
        return False
    direct = await build_request(step, cli, step.workspace.project)
    if direct is None:
        return False
    try:
        await push_request(backend.embedded, direct.body, direct.complete_code)
    except Refused as refusal:
        step.say(f"direct push: refused, so the CLI shall say why: {refusal}")
        return False
    step.say("direct push: done")
    return await backend.is_pushed()


async def _push_with_cli(step: RunningStep, cli: ConvexCli, backend: Backend) -> StepResult:
    backend.take_refusal()  # drops one of the fast path: the CLI may be refused for another reason
    result = await push(step, cli, step.workspace.project, backend.target)
    if result.ok and await backend.is_pushed():
        return step.passed()
    if not await backend.answers():
        return step.failed("backend-failed", f"The deployment does not answer.\n{excerpt_of(result)}")
    if result.ok:
        return step.failed("push-unfinished", excerpt_of(result))
    tool, accident = f"convex {cli.version}", step.accident(result)
    if accident is None and await works(step.tools, tool, lambda trial: _deploys(trial, cli)):
        return step.failed("deploy-refused", excerpt_of(result), _diagnostics(step, backend, result))
    kind = await blame(step, accident or "tool-crashed", result, tool, lambda trial: _deploys(trial, cli))
    return step.failed(kind, f"The convex command was {result.ending}.\n{excerpt_of(result)}")


def _diagnostics(step: RunningStep, backend: Backend, result: ProcessResult) -> list[Diagnostic]:
    """What our own deployment refused, else what the CLI says of itself, the bundler or another deployment."""
    refused = backend.take_refusal()
    if refused is None:
        return read_cli_errors(output_of(result.output))
    project = step.workspace.project
    return [refusal_diagnostic(refused, project / read_config(project).folder)]


async def _deploys(trial: RunningStep, cli: ConvexCli) -> bool:
    """Whether the CLI deploys a project of ours."""
    return await ask_cli(trial.tools, cli, has_schema=False) is not None


def _settle_config(step: RunningStep, project: Path) -> None:
    """The CLI gets what we understood of convex.json, and nothing else. Raises ConfigError."""
    config = read_config(project)
    if config.settings is None:
        return
    for name in config.ignored:
        step.note(f"convex.json: {name} is ignored, because it says nothing about the functions")
    (project / FILE).write_text(json.dumps(config.settings, indent=2))


def _note_version(step: RunningStep, cli: ConvexCli) -> None:
    if cli.matches_project:
        step.say(f"convex {cli.version}, the version that the project has")
        return
    found = installed_version(step.workspace.project / "node_modules", "convex") or "none"
    step.note(
        f"deployed with the CLI of convex {cli.version}: the project has {found}, and {OLDEST} is the oldest usable"
    )
