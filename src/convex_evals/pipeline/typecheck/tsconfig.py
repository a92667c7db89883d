"""Our tsconfig on top of a model's: corrects what would fail for reasons that have nothing to do with Convex."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.pipeline.typecheck.options import CompilerOptions

# What `convex codegen --init` writes, and a usual one for React.
CONVEX_DEFAULTS: Final[dict[str, object]] = {
    "allowJs": True,
    "strict": True,
    "moduleResolution": "Bundler",
    "jsx": "react-jsx",
    "skipLibCheck": True,
    "allowSyntheticDefaultImports": True,
    "target": "ESNext",
    "lib": ["ES2023", "dom"],
    "forceConsistentCasingInFileNames": True,
    "module": "ESNext",
    "isolatedModules": True,
    "noEmit": True,
}
REACT_DEFAULTS: Final[dict[str, object]] = {**CONVEX_DEFAULTS, "lib": ["ES2023", "DOM", "DOM.Iterable"]}

_LEGACY_RESOLUTIONS: Final = frozenset({"node", "node10", "classic"})
_LEGACY_MODULES: Final = frozenset({"commonjs", "amd", "umd", "system", "none"})
_LEGACY_TARGETS: Final = frozenset({"es3", "es5"})
# Options that TypeScript 7 no longer knows or accepts, or that decide about output which nobody writes.
_REMOVED: Final = (
    "downlevelIteration",
    "ignoreDeprecations",
    "outFile",
    "outDir",
    "rootDir",
    "declarationDir",
    "tsBuildInfoFile",
)
_MUST_NOT_BE: Final[dict[str, object]] = {
    "alwaysStrict": False,
    "esModuleInterop": False,
    "allowSyntheticDefaultImports": False,
    "noCheck": True,
    "composite": True,
    "incremental": True,
}
_WEB_LIBRARIES: Final = ("dom", "webworker")


@dataclass
class Corrections:
    """Options to be set on top, and a sentence for each that changes what the model wrote."""

    options: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def set(self, name: str, value: object, because: str) -> None:
        self.options[name] = value
        shown = "removed" if value is None else f"set to {value}"
        self.notes.append(f"{name} is {shown}: {because}")


def correct(options: CompilerOptions, folder: Path, installed_types: Collection[str]) -> Corrections:
    """`folder` is where our tsconfig will be; `installed_types` are the packages below node_modules/@types."""
    corrections = Corrections({"noEmit": True, "skipLibCheck": True})
    _correct_modules(options, corrections)
    _correct_libraries(options, corrections)
    _correct_types(options, corrections, installed_types)
    _correct_paths(options, corrections, folder)
    for name in _REMOVED:
        if options.values.get(name) is not None:
            corrections.set(name, None, "it has no meaning here")
    for name, value in _MUST_NOT_BE.items():
        if options.values.get(name) is value:
            corrections.set(name, not value, "everything is checked, nothing is written")
    if not options.word("jsx"):
        corrections.options["jsx"] = "react-jsx"
    return corrections


def _correct_modules(options: CompilerOptions, corrections: Corrections) -> None:
    resolution, module, target = options.word("moduleResolution"), options.word("module"), options.word("target")
    by_node = module.startswith("node") or (resolution.startswith("node") and resolution not in _LEGACY_RESOLUTIONS)
    if not by_node:
        if resolution in _LEGACY_RESOLUTIONS or not resolution:
            because = f"{resolution} cannot see the exports of packages" if resolution else "it is missing"
            corrections.set("moduleResolution", "Bundler", because)
        if module in _LEGACY_MODULES or not module:
            because = f"{module} does not go with bundling" if module else "it is missing"
            corrections.set("module", "ESNext", because)
    if target in _LEGACY_TARGETS or not target:
        corrections.set("target", "ESNext", f"{target} is gone" if target else "it is missing")


def _correct_libraries(options: CompilerOptions, corrections: Corrections) -> None:
    libraries = options.words("lib")
    if libraries is not None and not any(name.lower().startswith(_WEB_LIBRARIES) for name in libraries):
        corrections.set("lib", [*libraries, "DOM"], "functions have web globals such as fetch")


def _correct_types(options: CompilerOptions, corrections: Corrections, installed: Collection[str]) -> None:
    wanted = options.words("types")
    if wanted is None or "*" in wanted:
        # TypeScript 5 takes all that are installed, TypeScript 7 none, unless it is told.
        corrections.options["types"] = sorted(installed)
        return
    missing = [name for name in wanted if name not in installed]
    if missing:
        kept = [name for name in wanted if name in installed]
        corrections.set("types", kept, f"{', '.join(missing)} is not installed")


def _correct_paths(options: CompilerOptions, corrections: Corrections, folder: Path) -> None:
    """TypeScript 7 has no baseUrl: what it did is said with paths."""
    base = options.values.get("baseUrl")
    if not isinstance(base, str):
        return
    start = Path(os.path.normpath(options.origins["baseUrl"] / base))
    corrections.set("baseUrl", None, "paths say the same")
    corrections.options["paths"] = {
        "*": [_relative(start / "*", folder)],
        **dict(rebased_paths(options, folder, start)),
    }


def rebased_paths(options: CompilerOptions, folder: Path, start: Path | None = None) -> Iterator[tuple[str, list[str]]]:
    """`paths` as a tsconfig in `folder` must write them."""
    paths = options.values.get("paths")
    if not isinstance(paths, dict):
        return
    start = start or options.origins["paths"]
    for pattern, targets in paths.items():
        if isinstance(targets, list):
            yield pattern, [_relative(start / target, folder) for target in targets if isinstance(target, str)]


def _relative(path: Path, folder: Path) -> str:
    relative = os.path.relpath(path, folder)
    return relative if relative.startswith(".") else f"./{relative}"
