"""Bundles with the native esbuild and the CLI's own options: byte for byte what the CLI sends.

Which files are bundled, and for which runtime, follows the CLI's own rules as well.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.deploy.cli import ConvexCli
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import linked_packages

APP_CONFIG: Final = "convex.config.ts"
PUBLISHED_CONFIG: Final = "convex.config.js"
_EXTENSIONS: Final = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".jsx")
_IS_MODULE: Final = re.compile(r"^\s{0,100}(import|export)", re.MULTILINE)
_COMMENT: Final = r"//[^\n]*+\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
_USE_NODE_FIRST: Final = re.compile(rf"""(?:\s|{_COMMENT})*(["'])use node\1\s*(?:;|\n)""")
_ISOLATE_ONLY: Final = frozenset({"http", "crons"})
_CONFIGS: Final = (APP_CONFIG, PUBLISHED_CONFIG)
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

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EntryPoints:
    """Paths relative to the folder."""

    schema: str | None
    auth: str | None
    isolate: tuple[str, ...]
    node: tuple[str, ...]

    @property
    def modules(self) -> list[str]:
        """What `api` is made from."""
        return sorted([*self.isolate, *self.node])


def find_entry_points(convex: Path, config: str = APP_CONFIG) -> EntryPoints | None:
    """Of an app, a component in the project or, with `config`, a published component.

    None as soon as the CLI might warn, refuse or look closer. Then the CLI itself must decide.
    """
    isolate: list[str] = []
    node: list[str] = []
    for path in _walk(convex):
        relative = path.relative_to(convex).as_posix()
        if relative != config and _is_doubtful(relative):
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
            if not (path / APP_CONFIG).exists():  # a component of its own
                yield from _walk(path)
        elif path.is_file():
            yield path


def _is_doubtful(relative: str) -> bool:
    """Configurations out of place, reserved folders, and names that the CLI comments on."""
    name = relative.rpartition("/")[2]
    return (
        name in _CONFIGS
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
    """One call of esbuild. Paths of modules are relative to `base`."""

    name: str
    base: Path
    entries: tuple[str, ...]
    platform: str = "browser"
    chunks: str = "_deps"
    splitting: bool = True

    @property
    def environment(self) -> str:
        return "node" if self.platform == "node" else "isolate"


@dataclass(frozen=True, slots=True)
class Implementation:
    """The bundled code of an app or a component, as start_push takes it."""

    schema: Json | None
    modules: list[Json]


def bundles_like(cli: ConvexCli, toolchain: Toolchain) -> bool:
    """Whether a `convex` command asks for exactly the esbuild that we have."""
    try:
        wanted = json.loads((cli.package / "package.json").read_bytes())["dependencies"]["esbuild"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(wanted == toolchain.packages.version("esbuild"))


async def bundle(
    step: RunningStep,
    project: Path,
    base: Path,
    found: EntryPoints,
    name: str = "app",
    *,
    packages_only: bool = False,
) -> Implementation | None:
    """What is in `base`, as `project` uses it; None when esbuild printed anything. No two bundles at a time may have
    the same name. With `packages_only`, no file of the project can be in it."""
    builds = [
        Build(f"{name}-isolate", base, found.isolate),
        Build(f"{name}-node", base, found.node, "node", "_deps/node"),
        Build(f"{name}-auth", base, (found.auth,) if found.auth else (), splitting=False),
    ]
    schema = Build(f"{name}-schema", base, (found.schema,) if found.schema else ())
    doing = (_build(step, project, build, packages_only) for build in [*builds, schema])
    *modules, schemas = await asyncio.gather(*doing)
    if schemas is None or len(schemas) != len(schema.entries) or any(part is None for part in modules):
        return None
    return Implementation(next(iter(schemas), None), [module for part in modules for module in part or []])


async def _build(step: RunningStep, project: Path, build: Build, packages_only: bool) -> list[Json] | None:
    if not build.entries:
        return []
    output = f"{_OUTPUT}{build.name}"
    options = [
        *(str(build.base / entry) for entry in build.entries),
        *_OPTIONS,
        f"--platform={build.platform}",
        f"--chunk-names={build.chunks}/[hash]",
        f"--outbase={build.base}",
        *(["--splitting"] if build.splitting else []),
    ]
    (project / output).mkdir()
    try:
        is_silent = await run_esbuild(step, project, options, output, packages_only=packages_only)
        return _modules(project / output, build.environment) if is_silent else None
    finally:
        shutil.rmtree(project / output, ignore_errors=True)


async def run_esbuild(
    step: RunningStep, project: Path, options: Sequence[str], output: str, *, packages_only: bool = False
) -> bool:
    """Writes to the folder `output` of the project, which must exist. Returns whether there was no error or warning.

    With `packages_only`, it cannot read what the model wrote.
    """
    esbuild = step.tools.toolchain.binary("esbuild")
    readable = (esbuild, *linked_packages(project, step.tools), *(() if packages_only else (project,)))
    command = [str(esbuild), *options, f"--outdir={output}"]
    result = await step.run(command, cwd=project, read=readable, write=(project / output,))
    return result.ok and not result.output.size


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
