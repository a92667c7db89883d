"""The copy of a project that is type-checked and linted: the same sources, our tsconfigs, no directives.

Directives are comments that switch checks off; those of the compiler are findings. They lose their effect wherever they
stand, in the same number of bytes: whether some text is a comment is for each tool to say, and a model could make two
tools disagree. A finding, on the other hand, is a comment by its syntax.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ast_grep_py import SgNode, SgRoot

from convex_evals.core.diagnostics import Diagnostic, Place, type_error
from convex_evals.pipeline.project_config import read_config
from convex_evals.pipeline.typecheck.tsconfig import (
    ALWAYS,
    CONVEX_DEFAULTS,
    REACT_DEFAULTS,
    CompilerOptions,
    correct,
    read_options,
    rebased_paths,
)

SUFFIXES: Final = {
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".tsx", ".js", ".jsx", ".mjs", ".cjs"), "tsx"),
}
SOURCES: Final = frozenset(SUFFIXES)
_EFFECTIVE: Final = re.compile(
    rb"(?P<ts>@ts)-(?=nocheck|ignore|expect-error)|(?P<lint>[eot][sx]lint)-(?=disable|enable|env)"
    rb"|(?P<lib>no)-(?=default-lib)",
    re.IGNORECASE,
)
_OF_COMPILER: Final = re.compile(r"@ts-(?:nocheck|ignore|expect-error)", re.IGNORECASE)
_OF_LINTER: Final = re.compile(r"(?:es|ox|ts)lint-(?:disable|enable|env)[a-z-]*|^/\*\s*(?:eslint|globals?|exported)\s")
_CONFIGURES: Final = re.compile(rb"/\*\s*+(?:eslint|globals?|exported)\s")
_DECLARES_MODULE: Final = re.compile(rb"\bmodule\b")
_REACT_CONFIGS: Final = ("src/tsconfig.json", "tsconfig.app.json", "tsconfig.json")
_TSCONFIG: Final = re.compile(r"(?:ts|js)config(?:\..*)?\.json", re.IGNORECASE)
_OTHER_FRAMEWORKS: Final = (".vue", ".svelte", ".astro")
_DECLARATION: Final = re.compile(r"(?P<stem>.+)\.d(?P<suffix>\.[mc]?)ts", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directives:
    """`errors` are ours, with codes like the compiler's; `notes` are of the linter's directives, which are ignored."""

    errors: tuple[Diagnostic, ...]
    notes: tuple[str, ...]


def remove_directives(copy: Path, files: list[Path]) -> Directives:
    """Rewrites those of `files`, which are all below `copy`, that hold directives."""
    errors: list[Diagnostic] = []
    notes: list[str] = []
    for path in files:
        source = path.read_bytes()
        if not any(pattern.search(source) for pattern in (_EFFECTIVE, _CONFIGURES, _DECLARES_MODULE)):
            continue
        shown = path.relative_to(copy).as_posix()
        root = SgRoot(source.decode(errors="replace"), SUFFIXES[path.suffix]).root()
        found = [*_comments(root, _OF_COMPILER)]
        errors += [_hidden(text.lower(), _place(shown, node)) for node, text in found]
        errors += [replaced(name, _place(shown, node)) for node, name in _replaced(root, copy)]
        for node, text in _comments(root, _OF_LINTER):
            place = _place(shown, node)
            notes.append(f"{shown}({place.line},{place.column}): {text.strip(' /*')} is ignored")
        harmless = _EFFECTIVE.sub(lambda match: (match["ts"] or match["lint"] or match["lib"]) + b"_", source)
        if harmless != source:
            path.write_bytes(harmless)
    return Directives(tuple(errors), tuple(notes))


def replaced(module: str, place: Place) -> Diagnostic:
    return type_error("TS90002", f"'{module}' is installed, so its types must not be declared again.", place)


def _hidden(directive: str, place: Place) -> Diagnostic:
    return type_error("TS90001", f"'{directive}' hides errors, which is not allowed: they must be corrected.", place)


def _comments(root: SgNode, pattern: re.Pattern[str]) -> Iterator[tuple[SgNode, str]]:
    for node in root.find_all(kind="comment"):
        if (match := pattern.search(node.text())) is not None:
            yield node, match[0]


def _replaced(root: SgNode, copy: Path) -> Iterator[tuple[SgNode, str]]:
    """`declare module "convex/server"` in a file without imports and exports comes before the package itself."""
    if any(child.kind() in {"import_statement", "export_statement"} for child in root.children()):
        return
    for node in root.find_all(kind="module"):
        name = node.field("name")
        if name is None or name.kind() != "string":
            continue
        module = name.text().strip("\"'")
        if is_installed(module, copy):
            yield node, module


def is_installed(module: str, copy: Path) -> bool:
    """Whether an installed package offers this module. A name with escapes is one that someone wants to hide."""
    if "\\" in module:
        return True
    parts = module.split("/")
    package, rest = ("/".join(parts[:2]), parts[2:]) if module.startswith("@") else (parts[0], parts[1:])
    if not package.strip(".") or not module.isprintable():
        return False
    try:
        exports = json.loads((copy / "node_modules" / package / "package.json").read_bytes()).get("exports")
    except (OSError, ValueError, RecursionError, AttributeError):
        return False
    return not isinstance(exports, dict) or not rest or "/".join((".", *rest)) in exports


def _place(file: str, node: SgNode) -> Place:
    start = node.range().start
    return Place(file, start.line + 1, start.column + 1)


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
