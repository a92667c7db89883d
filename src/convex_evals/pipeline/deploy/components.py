"""Components on the fast path: which ones a project uses, and what the CLI sends for each.

A published component is one whose `convex.config.js` lies among the project's packages. Nothing is generated for it.
For one that lies in the project itself, with a `convex.config.ts`, code is generated (see `local_components`). It is
left to the CLI when it uses other components.
"""

import asyncio
import base64
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.pipeline.deploy.bundle import (
    APP_CONFIG,
    PUBLISHED_CONFIG,
    Json,
    bundle,
    find_entry_points,
    run_esbuild,
)
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import linked_packages
from convex_evals.pipeline.workspace import keep, read_kept

FORMAT: Final = 1  # of the kept files; another one when their meaning changes
_DISCOVERY: Final = ".convex-evals-components"
_METAFILE: Final = "metafile.json"
_OPTIONS: Final = (
    "--bundle",
    "--platform=browser",
    "--format=esm",
    "--target=esnext",
    "--conditions=convex,module",
    "--minify",
    "--keep-names",
    "--outbase=/",
    "--log-level=warning",
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A `convex.config`: the app's, that of a component in the project, or that of a published one."""

    config: Path
    path: str  # of its folder, as seen from the app's; "" is the app itself
    imports: Mapping[str, str]  # another definition by its import, as written -> its path

    @property
    def folder(self) -> Path:
        return self.config.parent

    @property
    def is_local(self) -> bool:
        return bool(self.path) and self.config.name == APP_CONFIG


@dataclass(frozen=True, slots=True)
class Definitions:
    app: Definition
    components: tuple[Definition, ...]

    @property
    def packages(self) -> dict[str, str]:
        """By path, what generated code imports each component from: its package, or its folder seen from there."""
        every = (self.app, *self.components)
        found = {path: name.partition("/convex.config")[0] for each in every for name, path in each.imports.items()}
        return found | {each.path: f"../{each.path}" for each in self.components if each.is_local}


async def find_definitions(step: RunningStep, project: Path) -> Definitions | None:
    """None when the CLI must look: nested components of the project's own, or anything that esbuild comments on."""
    entry = f"./convex/{APP_CONFIG}"
    with _folder(project, _DISCOVERY) as output:
        # What they all import is of no interest here, and takes longer than the rest.
        options = [entry, *_OPTIONS, "--external:convex/server", f"--metafile={output.name}/{_METAFILE}"]
        if not await run_esbuild(step, project, options, output.name):
            return None
        inputs = json.loads((output / _METAFILE).read_bytes())["inputs"]
    packages = [path.resolve() / "node_modules" for path in linked_packages(project, step.tools)]
    return read_definitions(inputs, project, packages)


def read_definitions(inputs: Mapping[str, Any], project: Path, packages: list[Path]) -> Definitions | None:
    """From the `inputs` of an esbuild metafile."""
    app = project / "convex"
    places = {name: _place(project, name) for name in inputs if ".config." in name}
    if any(not _is_expected(place, app, packages) for place in places.values()):
        return None
    definitions = []
    for name, place in places.items():
        imports: dict[str, str] = {}
        for each in inputs[name]["imports"]:
            if ".config." not in each["path"]:
                continue
            written, target = each.get("original"), places.get(each["path"])
            if written is None or target is None or not _is_plain_import(written, target, place, app):
                return None
            if imports.setdefault(written, _seen_from(app, target)) != _seen_from(app, target):
                return None
        definitions.append(Definition(place, _seen_from(app, place), imports))
    apps = [each for each in definitions if each.config == app / APP_CONFIG]
    found = Definitions(apps[0], tuple(each for each in definitions if each not in apps)) if len(apps) == 1 else None
    return found if found is not None and _is_unambiguous(found) else None


def _is_plain_import(written: str, target: Path, importer: Path, app: Path) -> bool:
    """A package by its name, or a component of the project by its path and from the app alone."""
    is_local, is_path = target.name == APP_CONFIG, written.startswith(".")
    by_whom = importer == app / APP_CONFIG if is_local else importer.name != APP_CONFIG or importer.parent == app
    return "/convex.config" in written and is_local == is_path and by_whom


def _place(folder: Path, name: str) -> Path:
    return Path(os.path.normpath(folder / name))


def _is_expected(config: Path, app: Path, packages: list[Path]) -> bool:
    """The app's own, one in another folder of the project, or one among the packages that is published without its
    sources."""
    if config == app / APP_CONFIG or _is_in_project(config, app):
        return True
    among_packages = any(config.is_relative_to(folder) for folder in packages)
    return among_packages and config.name == PUBLISHED_CONFIG and not (config.parent / APP_CONFIG).exists()


def _is_in_project(config: Path, app: Path) -> bool:
    """In a folder that does not hold the app."""
    folder = config.parent
    own = config.name == APP_CONFIG and folder.is_relative_to(app.parent) and not app.is_relative_to(folder)
    return own and "node_modules" not in folder.relative_to(app.parent).parts


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(path, start)


def _seen_from(app: Path, config: Path) -> str:
    path = _relative(config.parent, app)
    return "" if path == "." else path


def _is_unambiguous(found: Definitions) -> bool:
    """Whether every component has one name that all who use it agree on, as generated types need it."""
    names: dict[str, set[str]] = {}
    for each in (found.app, *found.components):
        for written, path in each.imports.items():
            names.setdefault(path, set()).add(written.partition("/convex.config")[0])
    return all(len(names.get(each.path, ())) == 1 for each in found.components) and "" not in names


async def define(step: RunningStep, project: Path, definition: Definition, number: int = 0) -> Json | None:
    """`definition` and `dependencies`, as start_push takes them. No two at a time may have the same number.

    It has no source map: that matters only for a definition that is refused, and then the CLI does it again.
    """
    name = f"{_DISCOVERY}-{number}"
    entry = f"./{_relative(definition.config, project)}"
    external = [f"--external:{written}" for written in definition.imports]
    with _folder(project, name) as output:
        options = [entry, *_OPTIONS, *external]
        if not await run_esbuild(step, project, options, name, packages_only=not definition.is_local and number > 0):
            return None
        written = output / definition.config.relative_to("/").with_suffix(".js")
        source = _linked(written.read_text(encoding="utf-8"), definition.imports)
    if source is None:
        return None
    source += f"//# sourceMappingURL={written.name}.map\n"  # as the CLI has it
    module = {"path": written.name, "source": source, "environment": "isolate"}
    return {"definition": module, "dependencies": list(definition.imports.values())}


def _linked(source: str, imports: Mapping[str, str]) -> str | None:
    """As the CLI writes imports of other definitions; None when it is not plain where they are."""
    for written, path in imports.items():
        if source.count(f'from"{written}"') != 1:
            return None
        key = base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")
        source = source.replace(f'from"{written}"', f'from"./_componentDeps/{key}"')
    return source


async def define_component(
    step: RunningStep, project: Path, definition: Definition, number: int, version: str
) -> Json | None:
    """An item of `componentDefinitions`, as start_push takes them; `number` is not 0.

    A published one is made from the set of packages alone, which never changes, so it is kept for all projects from
    where that set has the same relative path: bundles name their sources by it.
    """
    if definition.is_local:
        return await _bundle_component(step, project, definition, number, version)
    kept = _place_in_cache(step, definition, version)
    known = read_kept(kept)
    if known is None:
        known = await _bundle_component(step, project, definition, number, version)
        if known is not None:
            keep(kept, known)
    return known


def _place_in_cache(step: RunningStep, definition: Definition, version: str) -> Path:
    tools = step.tools.toolchain.packages.folder.name
    key = json.dumps([FORMAT, tools, version, str(definition.config), definition.path, dict(definition.imports)])
    return step.tools.cache / "components" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"


async def _bundle_component(
    step: RunningStep, project: Path, definition: Definition, number: int, version: str
) -> Json | None:
    found = find_entry_points(definition.folder, definition.config.name)
    if found is None or found.node or found.auth:
        return None
    defined, implementation = await asyncio.gather(
        define(step, project, definition, number),
        bundle(
            step,
            project,
            definition.folder,
            found,
            f"component-{number}",
            packages_only=not definition.is_local,
        ),
    )
    if defined is None or implementation is None:
        return None
    return {
        "definitionPath": definition.path,
        **defined,
        "schema": implementation.schema,
        "functions": implementation.modules,
        "udfServerVersion": version,
    }


@contextmanager
def _folder(project: Path, name: str) -> Iterator[Path]:
    folder = project / name
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
