"""The copy of a project that is type-checked and linted: the same sources, our tsconfigs, no directives."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, Place
from convex_evals.pipeline.project_config import read_config
from convex_evals.pipeline.typecheck.directives import SUFFIXES, is_installed, remove_directives, replaced
from convex_evals.pipeline.typecheck.tsconfig import (
    ALWAYS,
    CONVEX_DEFAULTS,
    REACT_DEFAULTS,
    CompilerOptions,
    correct,
    read_options,
    rebased_paths,
)

SOURCES: Final = frozenset(SUFFIXES)
_REACT_CONFIGS: Final = ("src/tsconfig.json", "tsconfig.app.json", "tsconfig.json")
_TSCONFIG: Final = re.compile(r"(?:ts|js)config(?:\..*)?\.json", re.IGNORECASE)
_OTHER_FRAMEWORKS: Final = (".vue", ".svelte", ".astro")
_DECLARATION: Final = re.compile(r"(?P<stem>.+)\.d(?P<suffix>\.[mc]?)ts", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Area:
    """A folder that is checked by rules of its own, relative to the copy."""

    name: str  # convex or src
    folder: str
    tsconfig: str  # ours, as text


@dataclass(frozen=True, slots=True)
class CheckedCopy:
    """`errors` were found while copying; `declarations` are the project's own, by their path;
    `ignored` are notes about directives of the linter."""

    folder: Path
    areas: tuple[Area, ...]
    notes: tuple[str, ...]
    errors: tuple[Diagnostic, ...] = ()
    declarations: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def declarations_in(self, area: Area) -> tuple[str, ...]:
        return tuple(name for name in self.declarations if name.startswith(f"{area.folder}/"))


def make_checked_copy(project: Path, copy: Path) -> CheckedCopy:
    """Without what configures tools: dotfiles and tsconfigs, of which we have read what matters."""
    shutil.copytree(project, copy, ignore=_left_out)
    (copy / "node_modules").symlink_to((project / "node_modules").resolve(), target_is_directory=True)
    sources = [*_sources(copy)]
    notes = [*_remove_shadows(copy, sources)]
    directives = remove_directives(copy, [path for path in sources if path.exists()])
    areas = _Areas(project, copy, notes)
    found = [areas.convex(read_config(project).folder)]
    if found[0].folder != "src" and any(path.is_relative_to(copy / "src") for path in sources):
        found.append(areas.react())
    declarations = [path for path in sources if _is_declaration(path)]
    by_paths = [error for area in found for error in _replaced_by_paths(copy, area, declarations)]
    return CheckedCopy(
        folder=copy,
        areas=tuple(found),
        notes=tuple(notes),
        errors=(*areas.errors, *by_paths, *directives.errors),
        declarations=tuple(path.relative_to(copy).as_posix() for path in declarations),
        ignored=directives.notes,
    )


def _left_out(folder: str, names: list[str]) -> list[str]:
    """A link can only be there by mistake: nobody follows it. Files of other frameworks count for oxlint alone."""
    return [
        name
        for name in names
        if name == "node_modules"
        or name.startswith(".")
        or _TSCONFIG.fullmatch(name)
        or name.lower().endswith(_OTHER_FRAMEWORKS)
        or (Path(folder) / name).is_symlink()
    ]


def _sources(copy: Path) -> Iterator[Path]:
    """Written by the model, not by tools."""
    for path in sorted(copy.rglob("*")):
        if path.suffix in SOURCES and "_generated" not in path.relative_to(copy).parts and path.is_file():
            yield path


def _is_declaration(path: Path) -> bool:
    """To the compiler, `a.d.b.ts` declares what `a.b` exports."""
    name = path.name.lower()
    return path.exists() and (_DECLARATION.fullmatch(name) is not None or (".d." in name and name.endswith(".ts")))


def _remove_shadows(copy: Path, sources: list[Path]) -> Iterator[str]:
    """Declarations that stand in for JavaScript beside them: the compiler would believe them and not look at it."""
    for path in sources:
        match = _DECLARATION.fullmatch(path.name)
        if match and any(path.with_name(f"{match['stem']}{match['suffix']}{end}").is_file() for end in ("js", "jsx")):
            path.unlink()
            yield f"{path.relative_to(copy).as_posix()} is left out: the JavaScript beside it is checked"


def _replaced_by_paths(copy: Path, area: Area, declarations: list[Path]) -> Iterator[Diagnostic]:
    """`paths` that lead from a package to declarations of the model: the bundler, which needs code, goes elsewhere."""
    paths = json.loads(area.tsconfig)["compilerOptions"].get("paths", {})
    targets = [
        (pattern, os.path.normpath(os.path.join(area.folder, target)))  # noqa: PTH118 - text with a star
        for pattern, targets in paths.items()
        for target in targets
    ]
    for path in declarations:
        shown = path.relative_to(copy).as_posix()
        places = {place.relative_to(copy).as_posix() for place in _importable(path) if place.is_relative_to(copy)}
        names = {
            name for pattern, target in targets for place in places for name in _imported_as(pattern, target, place)
        }
        yield from (replaced(name, Place(shown, 1, 1)) for name in sorted(names) if is_installed(name, copy))


def _importable(declaration: Path) -> Iterator[Path]:
    """The paths, without their suffix, by which an import finds a declaration."""
    stem = declaration.name.partition(".d.")[0]
    yield from (declaration, declaration.with_name(stem))
    yield from (folder for folder in declaration.parents if (folder / "package.json").is_file())
    if stem == "index":
        yield declaration.parent


def _imported_as(pattern: str, target: str, place: str) -> Iterator[str]:
    before, star, after = target.partition("*")
    if star and place.startswith(before) and place.endswith(after) and len(place) > len(before) + len(after):
        yield pattern.replace("*", place[len(before) : len(place) - len(after)])
    elif not star and place == before:
        yield pattern


class _Areas:
    """Finds the areas of a copy. What changes a model's tsconfig goes to `notes`, what is wrong in it to `errors`."""

    def __init__(self, project: Path, copy: Path, notes: list[str]) -> None:
        self._project, self._copy, self._notes = project, copy, notes
        self.errors: list[Diagnostic] = []

    def convex(self, folder: str) -> Area:
        area, own = Area("convex", folder, ""), f"{folder}/tsconfig.json"
        if (self._project / own).is_file():
            return self._corrected(area, own)
        self._notes.append(f"{own} is missing: the one that the Convex CLI writes is used")
        (self._copy / folder).mkdir(parents=True, exist_ok=True)
        root = self._project / "tsconfig.json"
        return self._default(area, CONVEX_DEFAULTS, self._read(root) if root.is_file() else CompilerOptions())

    def react(self) -> Area:
        area = Area("src", "src", "")
        found = next((name for name in _REACT_CONFIGS if (self._project / name).is_file()), None)
        if found is None:
            self._notes.append("tsconfig.json is missing: one for React is used for src")
            return self._default(area, REACT_DEFAULTS, CompilerOptions())
        return self._corrected(area, found)

    def _read(self, tsconfig: Path) -> CompilerOptions:
        options = read_options(tsconfig, self._project)
        self.errors += [problem for problem in options.problems if problem not in self.errors]
        return options

    def _corrected(self, area: Area, tsconfig: str) -> Area:
        options = self._read(self._project / tsconfig)
        corrections = correct(options, self._project / area.folder, self._installed_types())
        self._notes += [f"{tsconfig}: {note}" for note in corrections.notes]
        return self._write(area, corrections.options)

    def _default(self, area: Area, defaults: dict[str, object], root: CompilerOptions) -> Area:
        """The bundler honours the paths of the project's tsconfig, so the compiler must too."""
        options: dict[str, object] = {**defaults, **ALWAYS, "types": sorted(self._installed_types())}
        base = root.values.get("baseUrl")
        start = root.origins["baseUrl"] / base if isinstance(base, str) else None
        paths = dict(rebased_paths(root, self._project / area.folder, start))
        if paths:
            options["paths"] = paths
        return self._write(area, options)

    def _write(self, area: Area, options: dict[str, object]) -> Area:
        """Every file that the model wrote is in it; generated JavaScript is described by the declarations beside it."""
        config = {"compilerOptions": options, "include": ["./**/*"], "exclude": ["./**/_generated/*.js"]}
        text = json.dumps(config, indent=2)
        (self._copy / area.folder / "tsconfig.json").write_text(text)
        return Area(area.name, area.folder, text)

    def _installed_types(self) -> set[str]:
        """As `types` names them: a scoped package `@a/b` is `a__b` there."""
        packages = self._copy / "node_modules"
        types = {path.name for path in (packages / "@types").glob("*") if (path / "package.json").is_file()}
        typed = {"vite/client"} if (packages / "vite/client.d.ts").is_file() else set()
        return types | typed
