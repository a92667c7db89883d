"""Names that an answer uses and the installed package does not have."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from convex_evals.analysis.evidence import UnknownSymbol
from convex_evals.analysis.modules import parse_module, parse_modules
from convex_evals.analysis.surface.scopes import Scopes
from convex_evals.analysis.surface.surface import GENERATED_SERVER, Surface, nearest
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.pipeline.grading.kit import Module

_NO_MEMBER: Final = re.compile(r"Property '(?P<name>[^']+)' does not exist on type '(?P<owner>\w+)")
_NO_EXPORT: Final = re.compile(r"Module '\"(?P<owner>[^\"]+)\"' has no exported member(?: named)? '(?P<name>[^']+)'")
_GENERATED: Final = re.compile(r"\.{1,2}/(?:.*/)?_generated/server(?:\.js)?")


def unknown_symbols(files: Mapping[str, str], surface: Surface) -> tuple[UnknownSymbol, ...]:
    """In the files of an answer: imports and members, each once."""
    modules = parse_modules(files).values()
    return _once(symbol for module in modules for symbol in _of_module(module, surface, Scopes(module, surface)))


def snippet_symbols(snippet: str, surface: Surface) -> tuple[UnknownSymbol, ...]:
    """In a piece of code without its imports: `v` and `ctx` are taken for what they usually are."""
    module = parse_module("snippet.ts", snippet)
    return () if module is None else _once(_of_module(module, surface, Scopes(module, surface, snippet=True)))


def complained_symbols(diagnostics: Iterable[Diagnostic], surface: Surface) -> tuple[UnknownSymbol, ...]:
    """What the compiler says is missing, where the owner is convex's own."""
    return _once(symbol for each in diagnostics if (symbol := _complained(each, surface)))


def _of_module(module: Module, surface: Surface, scopes: Scopes) -> Iterator[UnknownSymbol]:
    yield from _unknown_imports(module, surface)
    yield from _unknown_members(module, surface, scopes)


def _unknown_imports(module: Module, surface: Surface) -> Iterator[UnknownSymbol]:
    for each in module.imports:
        source = GENERATED_SERVER if _GENERATED.fullmatch(each.source) else each.source.removesuffix(".js")
        exports = surface.modules.get(source)
        if exports is None or each.name == "*" or each.name in exports:
            continue
        line = _line_of(module, each.source, each.name)
        known_in = surface.module_with(each.name)
        yield UnknownSymbol(each.name, f'"{source}"', module.path, line, known_in, nearest(each.name, exports))


def _line_of(module: Module, source: str, name: str) -> int:
    for statement in module.node.find_all(kind="import_statement"):
        text = statement.text()
        if source in text and re.search(rf"\b{re.escape(name)}\b", text):
            return statement.range().start.line + 1
    return 0


def _unknown_members(module: Module, surface: Surface, scopes: Scopes) -> Iterator[UnknownSymbol]:
    for node in module.node.find_all(kind="member_expression"):
        name, owner = node.field("property"), node.field("object")
        if name is None or owner is None or name.text() in surface.common:
            continue
        kinds = [surface.types[kind] for kind in scopes.types_of(owner)]
        if kinds and not any(name.text() in kind.members for kind in kinds):
            known = {member for kind in kinds for member in kind.members}
            line = name.range().start.line + 1
            shown = owner.text() if len(owner.text()) <= 40 and "\n" not in owner.text() else kinds[0].name
            yield UnknownSymbol(name.text(), shown, module.path, line, None, nearest(name.text(), known))


def _complained(diagnostic: Diagnostic, surface: Surface) -> UnknownSymbol | None:
    place = (diagnostic.file or "", diagnostic.line or 0)
    member = _NO_MEMBER.search(diagnostic.message)
    if member is not None and surface.has_type_called(member["owner"]):
        return UnknownSymbol(member["name"], member["owner"], *place)
    export = _NO_EXPORT.search(diagnostic.message)
    if export is None:
        return None
    source = GENERATED_SERVER if _GENERATED.fullmatch(export["owner"]) else export["owner"]
    if source not in surface.modules:
        return None
    return UnknownSymbol(export["name"], f'"{source}"', *place, surface.module_with(export["name"]))


def _once(symbols: Iterable[UnknownSymbol]) -> tuple[UnknownSymbol, ...]:
    """A name that is missing at one line is missing once, whoever says so."""
    return tuple({(symbol.name, symbol.file, symbol.line): symbol for symbol in symbols}.values())
