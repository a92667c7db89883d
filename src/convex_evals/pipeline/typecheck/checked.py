"""The copy of a project that is type-checked and linted: the same sources, our tsconfigs."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.pipeline.project_config import functions_folder
from convex_evals.pipeline.typecheck.options import CompilerOptions, read_options
from convex_evals.pipeline.typecheck.tsconfig import CONVEX_DEFAULTS, REACT_DEFAULTS, correct, rebased_paths
from convex_evals.pipeline.workspace import Workspace

SUBMITTED: Final = "tsconfig.submitted.json"  # the model's own, beside ours
SOURCES: Final = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
_REACT_CONFIGS: Final = ("src/tsconfig.json", "tsconfig.app.json", "tsconfig.json")


@dataclass(frozen=True, slots=True)
class Area:
    """A folder that is checked by rules of its own, relative to the copy."""

    name: str  # convex or src
    folder: str
    tsconfig: str  # ours, as text


@dataclass(frozen=True, slots=True)
class CheckedCopy:
    folder: Path
    areas: tuple[Area, ...]
    notes: tuple[str, ...]


def make_checked_copy(workspace: Workspace) -> CheckedCopy:
    """Without dotfiles: they configure linters."""
    project, copy = workspace.project, workspace.checked
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("node_modules", ".*"))
    (copy / "node_modules").symlink_to((project / "node_modules").resolve(), target_is_directory=True)
    notes: list[str] = []
    areas = [_convex_area(copy, functions_folder(project), notes)]
    if any(path.suffix in SOURCES for path in (copy / "src").rglob("*")) and areas[0].folder != "src":
        areas.append(_react_area(copy, notes))
    return CheckedCopy(copy, tuple(areas), tuple(notes))


def _convex_area(copy: Path, folder: str, notes: list[str]) -> Area:
    own = copy / folder / "tsconfig.json"
    if own.is_file():
        return _corrected(copy, Area("convex", folder, ""), _put_aside(own), f"{folder}/tsconfig.json", notes)
    notes.append(f"{folder}/tsconfig.json is missing: the one that the Convex CLI writes is used")
    (copy / folder).mkdir(parents=True, exist_ok=True)
    return _default(copy, Area("convex", folder, ""), CONVEX_DEFAULTS, read_options(copy / "tsconfig.json", copy))


def _react_area(copy: Path, notes: list[str]) -> Area:
    area = Area("src", "src", "")
    found = next((name for name in _REACT_CONFIGS if (copy / name).is_file()), None)
    if found is None:
        notes.append("tsconfig.json is missing: one for React is used for src")
        return _default(copy, area, REACT_DEFAULTS, CompilerOptions())
    base = _put_aside(copy / found) if found.startswith("src/") else copy / found
    return _corrected(copy, area, base, found, notes)


def _put_aside(tsconfig: Path) -> Path:
    return tsconfig.rename(tsconfig.with_name(SUBMITTED))


def _corrected(copy: Path, area: Area, base: Path, shown: str, notes: list[str]) -> Area:
    folder = copy / area.folder
    corrections = correct(read_options(base, copy), folder, _installed_types(copy))
    notes += [f"{shown}: {note}" for note in corrections.notes]
    extends = SUBMITTED if base.parent == folder else f"{'../' * len(Path(area.folder).parts)}{base.name}"
    return _write(copy, area, {"extends": f"./{extends}", "compilerOptions": corrections.options})


def _default(copy: Path, area: Area, defaults: dict[str, object], root: CompilerOptions) -> Area:
    """The bundler honours the paths of the project's tsconfig, so the compiler must too."""
    options: dict[str, object] = {**defaults, "types": sorted(_installed_types(copy))}
    base = root.values.get("baseUrl")
    start = root.origins["baseUrl"] / base if isinstance(base, str) else None
    paths = dict(rebased_paths(root, copy / area.folder, start))
    if paths:
        options["paths"] = paths
    return _write(copy, area, {"compilerOptions": options})


def _write(copy: Path, area: Area, config: dict[str, object]) -> Area:
    """Every file of the area is in it, whatever the model's own tsconfig includes."""
    text = json.dumps({**config, "include": ["./**/*"], "exclude": []}, indent=2)
    (copy / area.folder / "tsconfig.json").write_text(text)
    return Area(area.name, area.folder, text)


def _installed_types(copy: Path) -> set[str]:
    """As `types` names them: a scoped package `@a/b` is `a__b` there."""
    packages = copy / "node_modules"
    types = {path.name for path in (packages / "@types").glob("*") if (path / "package.json").is_file()}
    typed = {"vite/client"} if (packages / "vite/client.d.ts").is_file() else set()
    return types | typed
