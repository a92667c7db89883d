"""Code that the CLI generates for a component that lies in the project: first stubs to bundle it with, then its types.

As for apps (see `codegen`), the CLI is asked once per version, with a small component, and its answer is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.core.files import file_lock
from convex_evals.pipeline.deploy.backends import open_backend
from convex_evals.pipeline.deploy.cli import ConvexCli, compiled_code, push, write_push_request
from convex_evals.pipeline.deploy.codegen import (
    FORMAT,
    PROBE,
    PROBE_MODULE,
    PROBE_SCHEMA,
    GeneratedCode,
    learn_generated_code,
    modules_listed,
    with_components,
    write_generated,
    write_probe,
)
from convex_evals.pipeline.deploy.component_types import component_types
from convex_evals.pipeline.step import RunningStep, step_apart
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import keep, read_kept

_API: Final = "api.ts"
_TYPES: Final = "component.ts"
_BEGINNING: Final = "export type ComponentApi<"
_NO_COMPONENTS: Final = "export const components = componentsGeneric() as unknown as {};\n"
_FOLDER: Final = "probe"
_APP: Final = f"""\
import {{ defineApp }} from "convex/server";
import component from "./{_FOLDER}/convex.config";
const app = defineApp();
app.use(component, {{ name: "{PROBE}" }});
export default app;
"""
_COMPONENT: Final = f'import {{ defineComponent }} from "convex/server";\nexport default defineComponent("{PROBE}");\n'
ESCAPED: Final = ("internal", "public")
"""Names that components often give their modules, and that the CLI spells differently: the probe has them as well."""
_PROBE_MODULES: Final = tuple(f"{name}.ts" for name in (PROBE, *ESCAPED))


def _probe_analysis() -> dict[str, Any]:
    function = {"name": "q", "udfType": "Query"}
    exports = [
        [name, {"type": "branch", "branch": [["q", {"type": "leaf", "leaf": f"_reference/function/{name}:q"}]]}]
        for name in (PROBE, *ESCAPED)
    ]
    return {
        "definition": {"exports": {"type": "branch", "branch": exports}},
        "functions": {f"{name}.js": {"functions": [function]} for name in (PROBE, *ESCAPED)},
    }


@dataclass(frozen=True, slots=True)
class ComponentCode:
    """What one version of the CLI writes for a component with the modules of the probe: before and after the push."""

    stubs: dict[str, str]  # name below _generated -> text
    final: dict[str, str]

    @property
    def is_understood(self) -> bool:
        """Whether this is what we would have written."""
        return (
            self._template.count(_NO_COMPONENTS) == 1
            and self.stubs.keys() | {_TYPES} == self.final.keys()
            and self.for_modules(_PROBE_MODULES, _probe_analysis()) == self.final
        )

    @property
    def _template(self) -> str:
        """For the one module `PROBE`."""
        api = self.final.get(_API, "")
        for name in ESCAPED:
            api = api.replace(f'import type * as {name}_ from "../{name}.js";\n', "")
            api = api.replace(f"  {name}: typeof {name}_;\n", "")
        return api

    def for_modules(self, modules: Sequence[str], analysis: Mapping[str, Any]) -> dict[str, str] | None:
        """Raises NeedsCli; None when only the CLI can handle the names of the modules."""
        api = modules_listed(self._template, modules, ESCAPED)
        return None if api is None else {**self.with_types(analysis), _API: api}

    def with_types(self, analysis: Mapping[str, Any]) -> dict[str, str]:
        beginning = self.final.get(_TYPES, "").partition(_BEGINNING)[0]
        return {**self.final, _TYPES: f"{beginning}{component_types(analysis)}"}


async def learn_component_code(step: RunningStep, cli: ConvexCli, *, has_schema: bool) -> ComponentCode | None:
    """What this CLI generates, from the cache or by asking it; None when it does not do so as expected."""
    name = f"{FORMAT}-{cli.version}-local-{'schema' if has_schema else 'plain'}.json"
    kept = step.tools.cache / "generated" / name
    known = read_kept(kept)
    if known is None:
        plain = await learn_generated_code(step, cli, has_schema=False)
        kept.parent.mkdir(parents=True, exist_ok=True)
        async with file_lock(kept.with_suffix(".lock")):
            known = read_kept(kept)
            if known is None:
                code = await _ask(step, cli, plain, has_schema) if plain else None
                known = {"code": asdict(code) if code and code.is_understood else None}
                keep(kept, known)
    return ComponentCode(**known["code"]) if known["code"] else None


async def _ask(step: RunningStep, cli: ConvexCli, plain: GeneratedCode, has_schema: bool) -> ComponentCode | None:
    """With a project of ours; None when the app's code is not as expected."""
    with step_apart(step.tools) as asking:
        project = asking.workspace.project
        _write_project(project, cli, has_schema)
        generated = project / "convex" / _FOLDER / "_generated"
        compiled = (compiled_code(step.tools),)
        async with open_backend(GradingOptions(), step.tools, asking.workspace.root) as backend:
            written = await write_push_request(
                asking, cli, project, backend.target, asking.workspace.home / "request", compiled
            )
            stubs = _texts(generated)
            pushed = await push(asking, cli, project, backend.target, compiled)
        api = with_components(plain.files.get("api.d.ts", ""), {PROBE: f"../{_FOLDER}"})
        as_expected = _texts(project / "convex/_generated") == {**plain.files, "api.d.ts": api}
        return ComponentCode(stubs, _texts(generated)) if written.ok and pushed.ok and as_expected else None


def _write_project(project: Path, cli: ConvexCli, has_schema: bool) -> None:
    write_probe(project, cli.package, has_schema=False)
    component = project / "convex" / _FOLDER
    component.mkdir()
    (project / "convex/convex.config.ts").write_text(_APP)
    (component / "convex.config.ts").write_text(_COMPONENT)
    for name in _PROBE_MODULES:
        (component / name).write_text(PROBE_MODULE)
    if has_schema:
        (component / "schema.ts").write_text(PROBE_SCHEMA)


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


@dataclass(frozen=True, slots=True)
class LocalComponent:
    """One of a project, with stubs written; `path` is that of its folder, as seen from the app's."""

    path: str
    folder: Path
    modules: tuple[str, ...]
    code: ComponentCode

    def complete_code(self, analysis: Mapping[str, Any]) -> bool:
        """Whether its types are written now; False when the CLI must do it. Raises NeedsCli."""
        files = self.code.for_modules(self.modules, analysis)
        if files is None or analysis["definition"].get("envVars"):
            return False
        write_generated(self.folder, files)
        return True
