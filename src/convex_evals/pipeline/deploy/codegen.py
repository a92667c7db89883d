"""What the CLI would write into `convex/`: `_generated` for a plain project, and a tsconfig.json.

The CLI is asked once per version of `convex`, with a project of one module, and its answer is kept. What it generates
for other plain projects differs in two places of `api.d.ts` only: the imports of modules and the list of their types.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.files import file_lock
from convex_evals.pipeline.deploy.backends import open_backend
from convex_evals.pipeline.deploy.cli import ConvexCli, compiled_code, find_cli, initialize, push, write_push_request
from convex_evals.pipeline.grading import GradedDeployment
from convex_evals.pipeline.project_config import read_config
from convex_evals.pipeline.step import RunningStep, step_apart
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import keep, read_kept

FORMAT: Final = 3  # of the kept files; another one when their meaning changes
PROBE: Final = "convexEvalsProbe"
_IMPORT: Final = f'import type * as {PROBE} from "../{PROBE}.js";\n'
_ENTRY: Final = f"  {PROBE}: typeof {PROBE};\n"
PROBE_MODULE: Final = 'import { query } from "./_generated/server";\nexport const q = query(() => null);\n'
PROBE_SCHEMA: Final = 'import { defineSchema } from "convex/server";\nexport default defineSchema({});\n'
_PLAIN_MODULE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_/][A-Za-z0-9]+)*\.(?:ts|tsx|js|jsx)")
_NO_COMPONENTS: Final = "export declare const components: {};\n"
_COMPONENT_ENTRY: Final = '  %s: import("%s/_generated/component.js").ComponentApi<"%s">;\n'
_COMPONENT: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_PACKAGE: Final = re.compile(r"(?:@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*(?:/[A-Za-z0-9][A-Za-z0-9._~-]*)*")
_FOLDER: Final = re.compile(r"(?:\.\./)+[A-Za-z0-9_][A-Za-z0-9_-]*(?:/[A-Za-z0-9_][A-Za-z0-9_-]*)*")
_PROBE_COMPONENT: Final = "convex-evals-probe-component"
_PROBE_FILES: Final = {
    "convex/convex.config.ts": f"""\
import {{ defineApp }} from "convex/server";
import component from "{_PROBE_COMPONENT}/convex.config";
const app = defineApp();
app.use(component, {{ name: "{PROBE}" }});
export default app;
""",
    f"node_modules/{_PROBE_COMPONENT}/package.json": json.dumps({"name": _PROBE_COMPONENT, "type": "module"}),
    f"node_modules/{_PROBE_COMPONENT}/convex.config.js": f"""\
import {{ defineComponent }} from "convex/server";
export default defineComponent("{PROBE}");
""",
    f"node_modules/{_PROBE_COMPONENT}/lib.js": """\
import { queryGeneric } from "convex/server";
export const q = queryGeneric({ args: {}, handler: () => null });
""",
}
# Names that the CLI spells differently in `api.d.ts`, or that newer versions might.
_DELICATE: Final = frozenset(
    {
        "api",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "components",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "fullApi",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "internal",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
    }
)


@dataclass(frozen=True, slots=True)
class GeneratedCode:
    """What one version of the CLI writes for a project with the one module `PROBE`."""

    files: dict[str, str]  # name below _generated -> text
    definition: dict[str, Any]  # the module `convex.config.js` that it sends for projects without one
    tsconfig: str  # what `codegen --init` adds to a folder of functions that has none

    def for_modules(self, modules: Sequence[str]) -> dict[str, str] | None:
        """The files for a project with these modules; None when only the CLI can handle their names."""
        api = modules_listed(self.files["api.d.ts"], modules) if self._is_understood else None
        return None if api is None else {**self.files, "api.d.ts": api}

    @property
    def _is_understood(self) -> bool:
        api = self.files.get("api.d.ts", "")
        return api.count(_IMPORT) == api.count(_ENTRY) == 1 and api.count(PROBE) == 4


def modules_listed(api: str, modules: Sequence[str], escaped: Collection[str] = ()) -> str | None:
    """The text of `api` for these modules instead of `PROBE`; None when only the CLI can handle their names. Those
    in `escaped` are known to get an underscore."""
    stems = [module.rpartition(".")[0] for module in modules]
    names = [f"{stem}_" if stem in escaped else stem.replace("/", "_") for stem in stems]
    plain = all(map(_PLAIN_MODULE.fullmatch, modules)) and _DELICATE.isdisjoint(names)
    if not modules or not plain or len(set(names)) != len(names) or not api.count(_IMPORT) == api.count(_ENTRY) == 1:
        return None
    pairs = list(zip(stems, names, strict=True))
    imports = "".join(f'import type * as {name} from "../{stem}.js";\n' for stem, name in pairs)
    entries = "".join(f"  {_key(stem)}: typeof {name};\n" for stem, name in pairs)
    return api.replace(_IMPORT, imports).replace(_ENTRY, entries)


def with_components(api: str, mounted: Mapping[str, str]) -> str | None:
    """The text of `api.d.ts` for an app with these components: their names -> the packages they are from, or the
    folders that they are in, as seen from `_generated`."""
    if api.count(_NO_COMPONENTS) != 1 or not all(
        _COMPONENT.fullmatch(name) and (_PACKAGE.fullmatch(place) or _FOLDER.fullmatch(place))
        for name, place in mounted.items()
    ):
        return None
    entries = "".join(_COMPONENT_ENTRY % (name, package, name) for name, package in mounted.items())
    return api.replace(_NO_COMPONENTS, f"export declare const components: {{\n{entries}}};\n") if mounted else api


def write_generated(convex: Path, files: dict[str, str]) -> None:
    folder = convex / "_generated"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


async def add_missing_tsconfig(step: RunningStep, project: Path) -> None:
    """As `codegen --init` does: foreign graders and their tools expect it in the folder of functions."""
    path = project / read_config(project).folder / "tsconfig.json"
    if path.exists() or path.is_symlink():
        return
    code = await learn_generated_code(step, await find_cli(project, step.tools), has_schema=False)
    if code is not None:
        path.write_text(code.tsconfig, encoding="utf-8")


async def learn_generated_code(step: RunningStep, cli: ConvexCli, *, has_schema: bool) -> GeneratedCode | None:
    """What this CLI generates, from the cache or by asking it; None when it does not answer as expected."""
    kept = step.tools.cache / "generated" / f"{FORMAT}-{cli.version}-{'schema' if has_schema else 'plain'}.json"
    if (known := _kept(kept)) is not None:
        return known
    kept.parent.mkdir(parents=True, exist_ok=True)
    async with file_lock(kept.with_suffix(".lock")):
        if (known := _kept(kept)) is not None:
            return known
        code = await ask_cli(step.tools, cli, has_schema)
    if code is None:
        step.say(f"convex {cli.version} was asked what it generates, and its answer is not usable")
    else:
        keep(kept, asdict(code))
    return code


def _kept(path: Path) -> GeneratedCode | None:
    content = read_kept(path)
    return None if content is None else GeneratedCode(**content)


async def ask_cli(tools: Tools, cli: ConvexCli, has_schema: bool) -> GeneratedCode | None:
    """With a project of ours: the code that Node compiles meanwhile is kept for all others."""
    compiled_code(tools).mkdir(parents=True, exist_ok=True)
    with step_apart(tools) as asking:
        project = asking.workspace.project
        write_probe(project, cli.package, has_schema)
        async with open_backend(GradingOptions(), tools, asking.workspace.root) as backend:
            return await _answer(asking, cli, project, backend.target)


def write_probe(project: Path, package: Path, has_schema: bool) -> None:
    (project / "convex").mkdir()
    (project / "package.json").write_text(json.dumps({"private": True, "dependencies": {"convex": "*"}}))
    (project / f"convex/{PROBE}.ts").write_text(PROBE_MODULE)
    if has_schema:
        (project / "convex/schema.ts").write_text(PROBE_SCHEMA)
    (project / "node_modules").mkdir()
    (project / "node_modules/convex").symlink_to(package, target_is_directory=True)


async def _answer(step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment) -> GeneratedCode | None:
    request = project / "request"
    compiled = (compiled_code(step.tools),)
    written = await write_push_request(step, cli, project, target, request, compiled)
    pushed = await push(step, cli, project, target, compiled)
    initialized = await initialize(step, cli, project, target, compiled)
    if not written.ok or not pushed.ok or not initialized.ok:
        return None
    definition = json.loads(request.with_suffix(".json").read_bytes())["appDefinition"]["definition"]
    files = {path.name: path.read_text() for path in sorted((project / "convex/_generated").iterdir())}
    return GeneratedCode(files, definition, (project / "convex/tsconfig.json").read_text())


async def learn_component_imports(step: RunningStep, cli: ConvexCli) -> bool:
    """Whether this CLI describes published components by their own types, from the cache or by asking it."""
    kept = step.tools.cache / "generated" / f"{FORMAT}-{cli.version}-components.json"
    known = read_kept(kept)
    if known is None:
        async with file_lock(kept.with_suffix(".lock")):
            known = read_kept(kept)
            if known is None:
                known = {"imports": await _imports_components(step, cli)}
                keep(kept, known)
    return bool(known["imports"])


async def _imports_components(step: RunningStep, cli: ConvexCli) -> bool:
    """With a project of ours that uses a component of ours."""
    plain = await learn_generated_code(step, cli, has_schema=False)
    if plain is None:
        return False
    with step_apart(step.tools) as asking:
        project = asking.workspace.project
        write_probe(project, cli.package, has_schema=False)
        for name, text in _PROBE_FILES.items():
            path = project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        async with open_backend(GradingOptions(), step.tools, asking.workspace.root) as backend:
            result = await push(asking, cli, project, backend.target)
        written = {path.name: path.read_text() for path in sorted((project / "convex/_generated").iterdir())}
    api = with_components(plain.files.get("api.d.ts", ""), {PROBE: _PROBE_COMPONENT})
    return result.ok and written == {**plain.files, "api.d.ts": api}


def _key(stem: str) -> str:
    return f'"{stem}"' if "/" in stem else stem
