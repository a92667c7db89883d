"""The answer beside the reference: files, exports, functions, tables, imports, directives, dependencies."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from convex_evals.analysis.differences.declarations import (
    Constants,
    DeclaredFunction,
    DeclaredTable,
    constants_of,
    declared_functions,
    declared_tables,
)
from convex_evals.analysis.evidence import Aspect, Difference
from convex_evals.analysis.modules import parse_modules
from convex_evals.pipeline.grading.kit import NOT_WRITTEN, Module

SCHEMA: Final = "convex/schema.ts"
MANIFEST: Final = "package.json"
# Files that answers have or have not without any effect on what is graded.
_INDIFFERENT: Final = frozenset({"README.md", "package-lock.json", "tsconfig.json", "bun.lock", "bun.lockb"})


def compare_answers(files: Mapping[str, str], answer: Mapping[str, str]) -> tuple[Difference, ...]:
    """What the answer lacks or has otherwise. Extra helpers and other wording inside functions are not differences."""
    if not files or not answer:
        return ()
    received, expected = _Side.of(files), _Side.of(answer)
    both = [path for path in expected.modules if path in received.modules]
    return (
        *_files(files, answer),
        *_dependencies(files, answer),
        *_schema(received, expected),
        *(found for path in both for found in _module_differences(path, received, expected)),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    modules: Mapping[str, Module]
    constants: Constants

    @classmethod
    def of(cls, files: Mapping[str, str]) -> "_Side":
        modules = parse_modules(files)
        return cls(modules, constants_of(modules.values()))

    def functions(self, path: str) -> dict[str, DeclaredFunction]:
        return declared_functions(self.modules[path], self.constants)

    def tables(self) -> dict[str, DeclaredTable]:
        return declared_tables(self.modules[SCHEMA], self.constants)


def _files(files: Mapping[str, str], answer: Mapping[str, str]) -> Iterator[Difference]:
    for path in sorted(files.keys() ^ answer.keys()):
        pure = PurePosixPath(path)
        if pure.name in _INDIFFERENT or NOT_WRITTEN.intersection(pure.parts):
            continue
        missing = path in answer
        yield Difference("file", path, "", "a file" if missing else None, None if missing else "a file")


def _dependencies(files: Mapping[str, str], answer: Mapping[str, str]) -> Iterator[Difference]:
    yield from _differing("dependency", MANIFEST, _manifest(answer), _manifest(files))


def _manifest(files: Mapping[str, str]) -> dict[str, str]:
    try:
        content: Any = json.loads(files.get(MANIFEST, "{}"))
    except ValueError:
        return {}
    found = content.get("dependencies") if isinstance(content, dict) else None
    return {str(name): str(version) for name, version in found.items()} if isinstance(found, dict) else {}


def _module_differences(path: str, received: _Side, expected: _Side) -> Iterator[Difference]:
    wanted, found = expected.functions(path), received.functions(path)
    exports = received.modules[path].exports
    for name, ours in wanted.items():
        if name not in exports:
            yield Difference("export", path, name, ours.kind, None)
        elif name in found:
            yield from _function(path, name, ours, found[name])
    imported = _imports(received.modules[path])
    for name, source in _imports(expected.modules[path]).items():
        if imported.get(name) != source:
            yield Difference("import", path, name, source, imported.get(name))
    directives = (dict.fromkeys(side.modules[path].directives, "present") for side in (expected, received))
    yield from _differing("directive", path, *directives)


def _imports(module: Module) -> dict[str, str]:
    """Where what convex and its CLI offer is taken from."""
    named = (each for each in module.imports if not each.is_type)
    return {
        each.name: each.source for each in named if each.source.startswith("convex/") or "_generated" in each.source
    }


def _function(path: str, name: str, ours: DeclaredFunction, theirs: DeclaredFunction) -> Iterator[Difference]:
    pairs: tuple[tuple[Aspect, str | None, str | None], ...] = (
        ("function kind", ours.kind, theirs.kind),
        ("arguments", ours.arguments, theirs.arguments),
        ("returns", ours.returns, theirs.returns),
    )
    for aspect, want, got in pairs:
        if want != got:
            yield Difference(aspect, path, name, want, got)


def _schema(received: _Side, expected: _Side) -> Iterator[Difference]:
    if SCHEMA not in received.modules or SCHEMA not in expected.modules:
        return
    wanted, found = expected.tables(), received.tables()
    for table in [*wanted, *(name for name in found if name not in wanted)]:
        if table not in wanted or table not in found:
            sides = ("a table" if table in wanted else None), ("a table" if table in found else None)
            yield Difference("table", SCHEMA, table, *sides)
            continue
        yield from _differing("field", f"table {table}", wanted[table].fields, found[table].fields)
        yield from _indexes(table, wanted[table].indexes, found[table].indexes)


def _indexes(table: str, expected: Mapping[str, str], received: Mapping[str, str]) -> Iterator[Difference]:
    """An index that covers the same under another name is a difference in name only."""
    missing = {name: covers for name, covers in expected.items() if received.get(name) != covers}
    surplus = {name: covers for name, covers in received.items() if expected.get(name) != covers}
    for name, covers in missing.items():
        other = next((each for each, fields in surplus.items() if fields == covers), None)
        if other is None:
            yield Difference("index", f"table {table}", name, covers, surplus.pop(name, None))
        else:
            del surplus[other]
            yield Difference("index", f"table {table}", f"on {covers}", f"called {name}", f"called {other}")
    for name, covers in surplus.items():
        yield Difference("index", f"table {table}", name, None, covers)


def _differing(
    aspect: Aspect, place: str, expected: Mapping[str, str], received: Mapping[str, str]
) -> Iterator[Difference]:
    for name in [*expected, *(name for name in received if name not in expected)]:
        if expected.get(name) != received.get(name):
            yield Difference(aspect, place, name, expected.get(name), received.get(name))
