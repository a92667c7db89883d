"""The fast path: bundle with esbuild, generate code from what the CLI was seen to write, push without the CLI.

It is taken for plain projects, also with components, and it only ever succeeds: whenever anything is
unusual, and whenever anything fails, the CLI does it all again and its output counts.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.backend import RequestError
from convex_evals.pipeline.deploy.bundle import APP_CONFIG, EntryPoints, Json, bundle, bundles_like, find_entry_points
from convex_evals.pipeline.deploy.cli import ConvexCli
from convex_evals.pipeline.deploy.codegen import (
    learn_component_imports,
    learn_generated_code,
    with_components,
    write_generated,
)
from convex_evals.pipeline.deploy.component_types import NeedsCli
from convex_evals.pipeline.deploy.components import Definition, define, define_component, find_definitions
from convex_evals.pipeline.deploy.local_components import LocalComponent, learn_component_code
from convex_evals.pipeline.step import RunningStep

if TYPE_CHECKING:
    from convex_evals.backend import Deployment


class Refused(Exception):
    """The deployment does not take a push, and the message is its own; or the CLI must generate the code."""


@dataclass(frozen=True, slots=True)
class DirectPush:
    """`body` is that of start_push. `packages` are the components of the app: their path -> what is imported;
    `local` are those for which code is generated."""

    body: Json
    api: Path
    packages: Mapping[str, str] = field(default_factory=dict)
    local: Sequence[LocalComponent] = ()

    def complete_code(self, started: Json) -> None:
        """Writes the names of mounted components and the types of local ones into `_generated`: only the analysis
        knows them. Raises Refused."""
        if not self.packages:
            return
        analysis = started["analysis"]
        app = analysis[""]["definition"]
        mounted = {child["name"]: self.packages.get(child["path"], "") for child in app["childComponents"]}
        text = with_components(self.api.read_text(encoding="utf-8"), mounted)
        if text is None or app.get("envVars"):
            raise Refused("the CLI must generate the code")
        self.api.write_text(text, encoding="utf-8")
        try:
            completed = [component.complete_code(analysis[component.path]) for component in self.local]
        except NeedsCli as reason:
            raise Refused(f"the CLI must generate the code of a component: {reason}") from reason
        if not all(completed):
            raise Refused("the CLI must generate the code of a component")


@dataclass(frozen=True, slots=True)
class _Components:
    """What components add to a push: the definition of the app, and those of its components."""

    app: Json
    components: list[Json] = field(default_factory=list)
    packages: Mapping[str, str] = field(default_factory=dict)
    local: Sequence[LocalComponent] = ()


async def build_request(step: RunningStep, cli: ConvexCli, project: Path) -> DirectPush | None:
    """What to push, with `_generated` written; None when the CLI must do it."""
    project = project.resolve()  # noqa: ASYNC240 - as the CLI does before anything else
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
    plain = _Components({"definition": code.definition, "dependencies": []})
    return await _bundle(step, cli, project, found, plain)


async def _bundle(
    step: RunningStep, cli: ConvexCli, project: Path, found: EntryPoints, plain: _Components
) -> DirectPush | None:
    has_config = (project / "convex" / APP_CONFIG).is_file()
    defined = await _define(step, cli, project) if has_config else plain
    implementation = None if defined is None else await bundle(step, project, project / "convex", found)
    if defined is None or implementation is None:
        step.say("direct push: esbuild has something to say, or the CLI must look at components")
        return None
    app = {
        **defined.app,
        "schema": implementation.schema,
        "changedModules": implementation.modules,
        "unchangedModuleHashes": [],
        "udfServerVersion": cli.version,
    }
    body = {
        "functions": "convex/",
        "appDefinition": app,
        "componentDefinitions": defined.components,
        "nodeDependencies": [],
    }
    return DirectPush(body, project / "convex/_generated/api.d.ts", defined.packages, defined.local)


async def _define(step: RunningStep, cli: ConvexCli, project: Path) -> _Components | None:
    found = await find_definitions(step, project)
    if found is None or not await learn_component_imports(step, cli):
        return None
    local = [await _write_stubs(step, cli, each) for each in found.components if each.is_local]
    if any(each is None for each in local):
        return None
    app, *components = await asyncio.gather(
        define(step, project, found.app, 0),
        *(
            define_component(step, project, component, number, cli.version)
            for number, component in enumerate(found.components, 1)
        ),
    )
    if app is None or any(component is None for component in components):
        return None
    return _Components(
        app,
        [component for component in components if component is not None],
        found.packages,
        [each for each in local if each is not None],
    )


async def _write_stubs(step: RunningStep, cli: ConvexCli, component: Definition) -> LocalComponent | None:
    """What its modules import before anything is known about them; None when the CLI must do it."""
    found = find_entry_points(component.folder)
    if found is None:
        return None
    code = await learn_component_code(step, cli, has_schema=found.schema is not None)
    if code is None:
        return None
    write_generated(component.folder, code.stubs)
    return LocalComponent(component.path, component.folder, tuple(found.modules), code)


async def push_request(deployment: "Deployment", body: Json, analyzed: Callable[[Json], None] | None = None) -> None:
    """What the CLI asks of a deployment, in its order; `analyzed` gets the answer to start_push. Raises Refused."""
    from convex_evals.backend import PushRequest  # comes with the deployment, which static evals do without

    try:
        started = await deployment.pusher.start(PushRequest.parse(body))
        if analyzed is not None:
            analyzed(started)
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
