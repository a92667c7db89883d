"""Pushes for graders that see two versions of a project: the given one, and then the model's over it."""

import json
from dataclasses import dataclass
from typing import Any

from convex_evals.pipeline.deploy.answer import AnswerFailure, given_files, push_request_for
from convex_evals.pipeline.deploy.backends import Backend
from convex_evals.pipeline.deploy.cli import excerpt_of, find_cli, write_push_request
from convex_evals.pipeline.deploy.direct import build_request
from convex_evals.pipeline.grading import Pushes
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import Eval


@dataclass(frozen=True, slots=True)
class PreparedPushes:
    """`failure` says why there are none."""

    pushes: Pushes | None = None
    failure: AnswerFailure | None = None


async def prepare_pushes(step: RunningStep, eval: Eval, backend: Backend, options: GradingOptions) -> PreparedPushes:
    """What the CLI would send for the given files, and for the project, which is known to deploy."""
    given = await push_request_for(step, given_files(eval), backend, options)
    if isinstance(given, AnswerFailure):
        return PreparedPushes(
            failure=AnswerFailure(given.kind, f"The given files cannot be deployed:\n{given.excerpt}")
        )
    project = await _project_request(step, backend, options)
    if isinstance(project, AnswerFailure):
        return PreparedPushes(failure=project)
    return PreparedPushes(Pushes(given, project))


async def _project_request(
    step: RunningStep, backend: Backend, options: GradingOptions
) -> dict[str, Any] | AnswerFailure:
    project = step.workspace.project
    cli = await find_cli(project, step.tools)
    direct = await build_request(step, cli, project) if options.fast_push else None
    if direct is not None:
        return direct.body
    written = step.workspace.root / "request" / "project"
    written.parent.mkdir()
    result = await write_push_request(step, cli, project, backend.target, written)
    if not result.ok or not written.with_suffix(".json").is_file():
        return AnswerFailure(step.accident(result) or "tool-crashed", excerpt_of(result))
    request: dict[str, Any] = json.loads(written.with_suffix(".json").read_bytes())
    request.pop("adminKey", None)
    return request
