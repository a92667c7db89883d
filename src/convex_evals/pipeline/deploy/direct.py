"""The fast path: bundle with esbuild, generate code from what the CLI was seen to write, push without the CLI.

It is taken for plain projects only, and it only ever succeeds: whenever anything is unusual, and whenever anything
fails, the CLI does it all again and its words count. The native esbuild bundles with the CLI's own options: byte
for byte what the CLI sends.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from convex_evals.backend import RequestError
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.deploy.cli import ConvexCli
from convex_evals.pipeline.deploy.codegen import learn_generated_code, write_generated
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import linked_packages

if TYPE_CHECKING:
    from convex_evals.backend import Deployment

Json = dict[str, Any]

_EXTENSIONS: Final = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".jsx")
_IS_MODULE: Final = re.compile(r"^\s{0,100}(import|export)", re.MULTILINE)
_COMMENT: Final = r"//[^\n]*+\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
_USE_NODE_FIRST: Final = re.compile(rf"""(?:\s|{_COMMENT})*(["'])use node\1\s*(?:;|\n)""")
_ISOLATE_ONLY: Final = frozenset({"http", "crons"})
_CONFIGURED: Final = ("convex.config.ts", "convex.config.js")
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
class EntryPoints:
    """Paths relative to `convex/`."""

    schema: str | None
    auth: str | None
    isolate: tuple[str, ...]
    node: tuple[str, ...]

    @property
    def modules(self) -> list[str]:
        """What `api` is made from."""
        return sorted([*self.isolate, *self.node])


def find_entry_points(convex: Path) -> EntryPoints | None:
    """Which files of `convex/` the CLI bundles, and for which runtime, by its rules.

    None as soon as the CLI might warn, refuse or look closer. Then the CLI itself must decide.
    """
    isolate: list[str] = []
    node: list[str] = []
    for path in _walk(convex):
        relative = path.relative_to(convex).as_posix()
        if _is_doubtful(relative):
            return None
        if not _is_entry_point(relative):
            continue
        source = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix in {".ts", ".tsx"} and not _IS_MODULE.search(source):
            continue
        uses_node = _uses_node(relative, source)
        if uses_node is None:
            return None
        (node if uses_node else isolate).append(relative)
    if not isolate and not node:
        return None
    return EntryPoints(
        _first_existing(convex, "schema.ts", "schema.js"),
        _first_existing(convex, "auth.config.ts", "auth.config.js"),
        tuple(isolate),
        tuple(node),
    )


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name.encode("utf-16-be")):
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _is_doubtful(relative: str) -> bool:
    """Components, reserved folders, and names that the CLI comments on."""
    name = relative.rpartition("/")[2]
    return (
        name in _CONFIGURED
        or relative.startswith(("_deps/", "actions/"))
        or relative.lower().startswith("https.")
        or relative == "auth.config.js"
    )


def _is_entry_point(relative: str) -> bool:
    name = relative.rpartition("/")[2]
    return (
        relative.endswith(_EXTENSIONS)
        and not relative.startswith("_generated/")
        and not name.startswith((".", "#"))
        and name not in {"schema.ts", "schema.js"}
        and name.count(".") <= 1
        and " " not in relative
    )


def _uses_node(relative: str, source: str) -> bool | None:
    """None when only a parser could tell, or when it is not allowed there."""
    if "use node" not in source:
        return False
    if not _USE_NODE_FIRST.match(source) or relative.rpartition(".")[0] in _ISOLATE_ONLY:
        return None
    return True


def _first_existing(folder: Path, *names: str) -> str | None:
    return next((name for name in names if (folder / name).is_file()), None)


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
