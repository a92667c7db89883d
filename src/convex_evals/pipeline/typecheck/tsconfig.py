"""What a model's tsconfig means, and ours, with what a model's may decide: how its modules are found, and what it wants
checked besides.

No tool reads a model's tsconfig: we do, with everything it extends. Nothing that a model writes switches a check off:
every option that the compilers know is either in ALLOWED or left out. Names that they do not know stay, so that the
compiler complains about them.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, Place, type_error
from convex_evals.pipeline.project_config import parse_jsonc

LARGEST: Final = 256_000
_DEEPEST: Final = 8

# What `convex codegen --init` writes, and a usual one for React.
CONVEX_DEFAULTS: Final[dict[str, object]] = {
    "strict": True,
    "moduleResolution": "Bundler",
    "jsx": "react-jsx",
    "allowSyntheticDefaultImports": True,
    "target": "ESNext",
    "lib": ["ES2023", "dom"],
    "forceConsistentCasingInFileNames": True,
    "module": "ESNext",
    "isolatedModules": True,
}
REACT_DEFAULTS: Final[dict[str, object]] = {**CONVEX_DEFAULTS, "lib": ["ES2023", "DOM", "DOM.Iterable"]}

ALWAYS: Final[dict[str, object]] = {
    "strict": True,
    "allowJs": True,
    "checkJs": True,
    "skipLibCheck": True,
    "noEmit": True,
}
"""The same for everyone. Errors in a project's own declarations are looked for apart (`typecheck/step.py`)."""

ALLOWED: Final = frozenset(
    {
        *("allowImportingTsExtensions", "allowSyntheticDefaultImports", "allowUmdGlobalAccess", "allowUnreachableCode"),
        *("allowUnusedLabels", "customConditions", "emitDecoratorMetadata", "erasableSyntaxOnly", "esModuleInterop"),
        *("exactOptionalPropertyTypes", "experimentalDecorators", "forceConsistentCasingInFileNames"),
        *("isolatedModules", "jsx", "jsxFactory", "jsxFragmentFactory", "jsxImportSource", "lib", "module"),
        *("moduleDetection", "moduleResolution", "noFallthroughCasesInSwitch", "noImplicitOverride"),
        *("noImplicitReturns", "noPropertyAccessFromIndexSignature", "noUncheckedIndexedAccess"),
        *("noUncheckedSideEffectImports", "noUnusedLocals", "noUnusedParameters", "paths", "resolveJsonModule"),
        *("target", "types", "useDefineForClassFields", "verbatimModuleSyntax"),
    }
)
_SWITCHES: Final = frozenset(  # of checks
    {
        *("alwaysStrict", "checkJs", "noCheck", "noImplicitAny", "noImplicitThis", "noLib", "noResolve"),
        *("noStrictGenericChecks", "skipDefaultLibCheck", "strict", "strictBindCallApply"),
        *("strictBuiltinIteratorReturn", "strictFunctionTypes", "strictNullChecks", "strictPropertyInitialization"),
        *("suppressExcessPropertyErrors", "suppressImplicitAnyIndexErrors", "useUnknownInCatchVariables"),
    }
)
_WITHOUT_MEANING: Final = frozenset(
    {
        *("all", "allowArbitraryExtensions", "allowJs", "assumeChangesOnlyAffectDirectDependencies", "baseUrl"),
        *(
            "build",
            "builders",
            "checkers",
            "charset",
            "composite",
            "declaration",
            "declarationDir",
            "declarationMap",
            "deduplicatePackages",
            "diagnostics",
        ),
        *("disableReferencedProjectLoad", "disableSizeLimit", "disableSolutionSearching"),
        *("disableSourceOfProjectReferenceRedirect", "downlevelIteration", "emitBOM", "emitDeclarationOnly"),
        *("explainFiles", "extendedDiagnostics", "generateCpuProfile", "generateTrace", "help", "ignoreDeprecations"),
        *("importHelpers", "importsNotUsedAsValues", "incremental", "init", "inlineSourceMap", "inlineSources"),
        *("isolatedDeclarations", "keyofStringsOnly", "libReplacement", "listEmittedFiles", "listFiles"),
        *("listFilesOnly", "locale", "mapRoot", "maxNodeModuleJsDepth", "moduleSuffixes", "newLine", "noEmit"),
        *("noEmitHelpers", "noEmitOnError", "noErrorTruncation", "noImplicitUseStrict", "out", "outDir", "outFile"),
        *(
            "plugins",
            "preserveConstEnums",
            "preserveSymlinks",
            "preserveValueImports",
            "preserveWatchOutput",
            "pprofDir",
            "singleThreaded",
        ),
        *("pretty", "project", "reactNamespace", "removeComments", "resolvePackageJsonExports"),
        *("resolvePackageJsonImports", "rewriteRelativeImportExtensions", "rootDir", "rootDirs", "showConfig"),
        *(
            "skipLibCheck",
            "sourceMap",
            "sourceRoot",
            "stableTypeOrdering",
            "stripInternal",
            "traceResolution",
            "tsBuildInfoFile",
        ),
        *("typeRoots", "version", "watch"),
    }
)
KNOWN: Final = ALLOWED | _SWITCHES | _WITHOUT_MEANING
_QUIET: Final = frozenset({"noEmit", "skipLibCheck", "allowJs", "checkJs", "baseUrl"})  # as usual as they are harmless
_LEGACY_RESOLUTIONS: Final = frozenset({"node", "node10", "classic"})
_LEGACY_MODULES: Final = frozenset({"commonjs", "amd", "umd", "system", "none"})
_LEGACY_TARGETS: Final = frozenset({"es3", "es5"})
_MUST_BE_TRUE: Final = ("esModuleInterop", "allowSyntheticDefaultImports")
_WEB_LIBRARIES: Final = ("dom", "webworker")


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """Values by option name, in its exact spelling; `origins` are the folders that relative paths start from;
    `problems` are errors in the files themselves, with the compiler's codes."""

    values: Mapping[str, object] = field(default_factory=dict)
    origins: Mapping[str, Path] = field(default_factory=dict)
    problems: tuple[Diagnostic, ...] = ()

    def word(self, name: str) -> str:
        """A value that is one word, in lower case; empty when there is none."""
        value = self.values.get(name)
        return value.lower() if isinstance(value, str) else ""

    def words(self, name: str) -> list[str] | None:
        value = self.values.get(name)
        if not isinstance(value, list):
            return None
        return [item for item in value if isinstance(item, str)]


class _Unreadable(Exception):
    """`code` is the compiler's for such an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_options(tsconfig: Path, root: Path, depth: int = 0) -> CompilerOptions:
    """What cannot be read counts as empty and is a problem. Nothing outside `root` and its packages is read."""
    shown = os.path.relpath(tsconfig, root)
    try:
        config = _read(tsconfig, root)
        parents = list(_parents(tsconfig, config, root))
        if parents and depth == _DEEPEST:
            raise _Unreadable("TS18000", "Circularity detected while resolving configuration.")
    except _Unreadable as error:
        return CompilerOptions(problems=(type_error(error.code, str(error), Place(shown, 1, 1)),))
    inherited = [read_options(parent, root, depth + 1) for parent in parents]
    values = {name: value for parent in inherited for name, value in parent.values.items()}
    origins = {name: folder for parent in inherited for name, folder in parent.origins.items()}
    own = config.get("compilerOptions")
    if isinstance(own, dict):
        values.update(own)
        origins.update(dict.fromkeys(own, tsconfig.parent))
    problems = dict.fromkeys(problem for parent in inherited for problem in parent.problems)
    return CompilerOptions(values, origins, tuple(problems))


def _read(path: Path, root: Path) -> dict[str, object]:
    allowed = (root, (root / "node_modules").resolve())
    if not any(Path(os.path.normpath(path)).is_relative_to(folder) for folder in allowed):
        raise _Unreadable("TS5083", "Cannot read a file outside the project.")
    try:
        if path.stat().st_size > LARGEST:
            raise _Unreadable("TS5083", f"Cannot read a file of more than {LARGEST} bytes.")
        text = path.read_text(encoding="utf-8")
        content = parse_jsonc(text) if text.strip() else {}
    except OSError as error:
        raise _Unreadable("TS5083", f"Cannot read file '{path.name}': {error.strerror}.") from error
    except ValueError as error:
        raise _Unreadable("TS5014", f"Failed to parse file '{path.name}': it is not JSON with comments.") from error
    if not isinstance(content, dict):
        raise _Unreadable("TS5092", "The root value of a 'tsconfig.json' file must be an object.")
    return content


def _parents(tsconfig: Path, config: Mapping[str, object], root: Path) -> Iterator[Path]:
    extends = config.get("extends")
    named: list[object] = extends if isinstance(extends, list) else [] if extends is None else [extends]
    names = [name for name in named if isinstance(name, str) and name.isprintable()]
    if len(names) > _DEEPEST or len(names) < len(named):
        raise _Unreadable("TS5024", "Compiler option 'extends' requires a few file names.")
    try:
        for name in names:
            yield _parent(tsconfig, name, root)
    except (OSError, ValueError) as error:
        raise _Unreadable("TS5083", "Cannot read a file that 'extends' names.") from error


def _parent(tsconfig: Path, name: str, root: Path) -> Path:
    if name.startswith((".", "/")):
        return _with_suffix(tsconfig.parent / name)
    package = (root / "node_modules" / name).resolve()
    return package / "tsconfig.json" if package.is_dir() else _with_suffix(package)


def _with_suffix(path: Path) -> Path:
    return path if path.suffix == ".json" else path.with_name(f"{path.name}.json")


@dataclass
class Corrections:
    """The options to use, and a sentence for each that changes what the model wrote."""

    options: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def set(self, name: str, value: object, because: str) -> None:
        self.options[name] = value
        self.notes.append(f"{name} is set to {value}: {because}")


def correct(options: CompilerOptions, folder: Path, installed_types: Collection[str]) -> Corrections:
    """`folder` is where our tsconfig will be; `installed_types` are the packages below node_modules/@types."""
    corrections = Corrections(_allowed(options))
    corrections.notes += _left_out(options)
    _correct_modules(options, corrections)
    _correct_libraries(options, corrections)
    _correct_types(options, corrections, installed_types)
    _correct_paths(options, corrections, folder)
    for name in _MUST_BE_TRUE:
        if options.values.get(name) is False:
            corrections.set(name, True, "everything is checked, nothing is written")
    corrections.options.setdefault("jsx", "react-jsx")
    corrections.options |= ALWAYS
    return corrections


def _allowed(options: CompilerOptions) -> dict[str, object]:
    """`null` takes back what an extended file says."""
    return {
        name: value
        for name, value in options.values.items()
        if (name in ALLOWED or name not in KNOWN) and value is not None
    }


def _left_out(options: CompilerOptions) -> Iterator[str]:
    for name in sorted(options.values.keys() & (_SWITCHES | _WITHOUT_MEANING) - _QUIET):
        value = options.values[name]
        if name in _SWITCHES and value != (name in {"noCheck", "noLib", "noResolve"}) and name.find("uppress") < 0:
            continue  # says what holds anyway
        yield f"{name} is left out: {'every check is made' if name in _SWITCHES else 'it has no meaning here'}"


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
    start = Path(os.path.normpath(options.origins["baseUrl"] / base)) if isinstance(base, str) else None
    paths = dict(rebased_paths(options, folder, start))
    if start is not None:
        corrections.notes.append("baseUrl is left out: paths say the same")
        paths = {"*": [_relative(start / "*", folder)], **paths}
    if paths:
        corrections.options["paths"] = paths


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
