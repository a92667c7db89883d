"""Deploys the project, and asks the deployment whether it has it."""

from convex_evals.backend.errors import SystemFailure
from convex_evals.pipeline.deploy.backends import Backend
from convex_evals.pipeline.deploy.cli import OLDEST, ConvexCli, excerpt_of, find_cli, installed_version, push
from convex_evals.pipeline.deploy.direct import Refused, build_request, push_request
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.types import GradingOptions, StepResult


async def deploy_project(step: RunningStep, backend: Backend, options: GradingOptions) -> StepResult:
    project = step.workspace.project
    cli = find_cli(project, step.tools)
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
    body = await build_request(step, cli, step.workspace.project)
    if body is None:
        return False
    try:
        await push_request(backend.embedded, body)
    except Refused as refusal:
        step.say(f"direct push: refused, so the CLI shall say why: {refusal}")
        return False
    step.say("direct push: done")
    return await backend.is_pushed()


async def _push_with_cli(step: RunningStep, cli: ConvexCli, backend: Backend) -> StepResult:
    result = await push(step, cli, step.workspace.project, backend.target)
    if result.ok and await backend.is_pushed():
        return step.passed()
    accident = step.accident(result)
    if accident is not None:
        return step.failed(accident, f"The convex command was {result.ending}.\n{excerpt_of(result)}")
    if not await backend.answers():
        return step.failed("backend-failed", f"The deployment does not answer.\n{excerpt_of(result)}")
    return step.failed("push-unfinished" if result.ok else "deploy-refused", excerpt_of(result))


def _note_version(step: RunningStep, cli: ConvexCli) -> None:
    if cli.belongs_to_project:
        step.say(f"convex {cli.version}, as installed by the project")
        return
    oldest = ".".join(map(str, OLDEST))
    found = installed_version(step.workspace.project / "node_modules/convex") or "none"
    step.note(
        f"deployed with the CLI of convex {cli.version}: the project has {found}, and {oldest} is the oldest usable"
    )
