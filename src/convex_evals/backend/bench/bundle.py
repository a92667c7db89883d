"""Bundles a small project as the CLI does, so that pushing it can be measured without the CLI."""

import json
import shutil
from importlib.resources import as_file, files
from pathlib import Path

from convex_evals.core import convex_versions
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.toolchain import Toolchain

OPTIONS = (
    "--bundle",
    "--format=esm",
    "--target=esnext",
    "--platform=browser",
    "--conditions=convex,module",
    "--minify-syntax",
    "--minify-identifiers",
    "--keep-names",
    "--sourcemap=external",
    '--define:process.env.NODE_ENV="production"',
    "--log-level=error",
)
SERVER = (
    'export { queryGeneric as query, mutationGeneric as mutation, actionGeneric as action } from "convex/server";\n'
)


async def start_push_body(toolchain: Toolchain, admin_key: str, workspace: Path) -> bytes:
    """The body of `start_push` for the bench app."""
    project = workspace / "bundled"
    with as_file(files("convex_evals.backend.bench") / "app") as app:
        shutil.copytree(app, project)
    (project / "convex/_generated").mkdir()
    (project / "convex/_generated/server.js").write_text(SERVER)
    (project / "convex.config.js").write_text(
        'import { defineApp } from "convex/server";\nexport default defineApp();\n'
    )
    (project / "node_modules").symlink_to(toolchain.packages.node_modules)
    modules = {name: await _bundle(toolchain, project, name) for name in ("convex/bench.ts", "convex/schema.ts")}
    definition = await _bundle(toolchain, project, "convex.config.js")
    return json.dumps(
        {
            "adminKey": admin_key,
            "dryRun": False,
            "functions": "convex/",
            "appDefinition": {
                "definition": definition,
                "dependencies": [],
                "schema": modules["convex/schema.ts"],
                "changedModules": [modules["convex/bench.ts"]],
                "unchangedModuleHashes": [],
                "udfServerVersion": convex_versions.DEFAULT,
            },
            "componentDefinitions": [],
            "nodeDependencies": [],
        }
    ).encode()


async def _bundle(toolchain: Toolchain, project: Path, entry: str) -> dict[str, str]:
    target = project / "out" / Path(entry).with_suffix(".js").name
    result = await run(
        [toolchain.binary("esbuild"), entry, f"--outfile={target}", *OPTIONS],
        cwd=project,
        timeout=30,
        environment=base_environment(project),
    )
    if not result.ok:
        raise InfrastructureError(f"The bench app could not be bundled: {result.output.text}")
    source_map = target.with_suffix(".js.map").read_text()
    return {"path": target.name, "source": target.read_text(), "sourceMap": source_map, "environment": "isolate"}
