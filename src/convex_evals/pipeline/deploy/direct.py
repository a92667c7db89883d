"""The fast path: bundle with esbuild, generate code from what the CLI was seen to write, push without the CLI.

It is taken for plain projects only, and it only ever succeeds: whenever anything is unusual, and whenever anything
fails, the CLI does it all again and its words count.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convex_evals.backend import RequestError
from convex_evals.pipeline.deploy.bundle import bundle, bundles_like, find_entry_points
from convex_evals.pipeline.deploy.cli import ConvexCli
from convex_evals.pipeline.deploy.codegen import learn_generated_code, write_generated
from convex_evals.pipeline.step import RunningStep

if TYPE_CHECKING:
    from convex_evals.backend import Deployment

Json = dict[str, Any]


class Refused(Exception):
    """The deployment does not take a push; the message is its own."""


async def build_request(step: RunningStep, cli: ConvexCli, project: Path) -> Json | None:
    """The body of start_push, with `_generated` written; None when the CLI must do it."""
    if not cli.matches_project or not bundles_like(cli, step.tools.toolchain) or not _is_plain(project):
        step.say("direct push: not a plain project")
        return None
    found = find_entry_points(project / "convex")
    if found is None:
        step.say("direct push: the CLI must decide what is bundled")
        return None
    code = await learn_generated_code(step, cli, has_schema=found.schema is not None)
    files = code.for_modules(found.modules) if code else None
    if code is None or files is None:
        step.say("direct push: the CLI must generate the code")
        return None
    write_generated(project / "convex", files)
    bundled = await bundle(step, project, found)
    if bundled is None:
        step.say("direct push: esbuild has something to say")
        return None
    app = {
        "definition": code.definition,
        "dependencies": [],
        "unchangedModuleHashes": [],
        "udfServerVersion": cli.version,
        **bundled,
    }
    return {"functions": "convex/", "appDefinition": app, "componentDefinitions": [], "nodeDependencies": []}


async def push_request(deployment: "Deployment", body: Json) -> None:
    """What the CLI asks of a deployment, in its order. Raises Refused."""
    from convex_evals.backend import PushRequest  # comes with the deployment, which static evals do without

    try:
        started = await deployment.pusher.start(PushRequest.parse(body))
        status = await deployment.pusher.schema_status(started["schemaChange"])
        if status["type"] != "complete":
            raise Refused(json.dumps(status))
        await deployment.pusher.finish(started, dry_run=False)
    except RequestError as error:
        raise Refused(error.message) from error


def _is_plain(project: Path) -> bool:
    """No configuration of the CLI, and `convex` is named where the CLI looks for it."""
    if (project / "convex.json").exists() or not (project / "convex").is_dir():
        return False
    try:
        manifest = json.loads((project / "package.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and "convex" in (manifest.get("dependencies") or {})
