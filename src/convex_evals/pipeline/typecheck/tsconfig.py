"""Our tsconfig, with what a model's may decide: how its modules are found, and what it wants checked besides.

Nothing that a model writes switches a check off: every option that the compilers know is either in ALLOWED or left out.
Names that they do not know stay, so that the compiler complains about them.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.pipeline.typecheck.options import CompilerOptions

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
"""The same for everybody. Errors in a project's own declarations are looked for apart (`typecheck/step.py`)."""

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
