"""What names in an answer stand for, as far as they are convex's API, and which of them the package does not have."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.analysis.evidence import UnknownSymbol
from convex_evals.analysis.modules import first_argument, object_entries, parse_module, parse_modules
from convex_evals.analysis.surface.surface import GENERATED_SERVER, Member, Surface, nearest
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.pipeline.grading.kit import Module

Types = frozenset[str]
NOTHING: Final[Types] = frozenset()
_FUNCTIONS: Final = ("arrow_function", "function_expression", "function_declaration", "method_definition")
_WRAPPERS: Final = ("parenthesized_expression", "non_null_expression", "satisfies_expression")
_CONTEXTS: Final = {
    "query": "query ctx",
    "internalQuery": "query ctx",
    "mutation": "mutation ctx",
    "internalMutation": "mutation ctx",
    "action": "action ctx",
    "internalAction": "action ctx",
    "httpAction": "action ctx",
}
_CONTEXT_TYPES: Final = {"QueryCtx": "query ctx", "MutationCtx": "mutation ctx", "ActionCtx": "action ctx"}


class Scopes:
    """Types of expressions in one module. A snippet has no imports, so there `v` and `ctx` mean what they always do."""

    def __init__(self, module: Module, surface: Surface, *, snippet: bool = False) -> None:
        self._surface, self._snippet = surface, snippet
        self._imported = {each.alias: each.name for each in module.imports if _is_convex(each.source)}
        self._declared: dict[str, list[SgNode]] = {}
        for declarator in module.node.find_all(kind="variable_declarator"):
            name, value = declarator.field("name"), declarator.field("value")
            if name is not None and value is not None:
                self._declared.setdefault(name.text(), []).append(value)

    def types_of(self, node: SgNode | None, depth: int = 0) -> Types:
        """The types that an expression may have; nothing when that is not known."""
        if node is None or depth > 24:
            return NOTHING
        match node.kind():
            case "identifier":
                return self._of_name(node, depth)
            case "member_expression":
                members = self._members(node, depth)
                return frozenset(kind for member in members if (kind := member.type))
            case "call_expression":
                return self._of_call(node, depth)
            case kind if kind in _WRAPPERS:
                inner = next((child for child in node.children() if child.is_named()), None)
                return self.types_of(inner, depth + 1)
        return NOTHING

    def _members(self, node: SgNode, depth: int) -> Iterator[Member]:
        name = node.field("property")
        for kind in self.types_of(node.field("object"), depth + 1):
            member = self._surface.types[kind].members.get(name.text() if name else "")
            if member is not None:
                yield member

    def _of_call(self, node: SgNode, depth: int) -> Types:
        function = node.field("function")
        if function is None:
            return NOTHING
        if function.kind() == "identifier":
            return self._root(f"{self._imported_as(function)}()")
        if function.kind() != "member_expression":
            return NOTHING
        return frozenset(kind for member in self._members(function, depth) if (kind := member.returns))

    def _imported_as(self, identifier: SgNode) -> str:
        name = identifier.text()
        return self._imported.get(name) or (name if self._snippet else "")

    def _root(self, name: str) -> Types:
        kind = self._surface.roots.get(name)
        return frozenset({kind}) if kind else NOTHING

    def _of_name(self, node: SgNode, depth: int) -> Types:
        name = node.text()
        parameter = _parameter(node, name)
        if parameter is not None:
            return self._of_parameter(parameter, depth)
        if self._imported.get(name) == "v" or (self._snippet and name == "v" and name not in self._declared):
            return self._root("v")
        values = self._declared.get(name, [])
        if len(values) == 1:
            return self.types_of(values[0], depth + 1)
        if self._snippet and name == "ctx":
            return frozenset().union(*(self._root(root) for root in _CONTEXT_TYPES.values()))
        return NOTHING

    def _of_parameter(self, parameter: "Parameter", depth: int) -> Types:
        if parameter.is_part:
            return NOTHING
        if parameter.position != 0 or parameter.annotation is not None:
            return self._annotated(parameter.annotation)
        call = _call_with_handler(parameter.function)
        function = call.field("function") if call is not None else None
        if function is None:
            return NOTHING
        if function.kind() == "identifier":
            return self._root(_CONTEXTS.get(self._imported_as(function), ""))
        if function.kind() == "member_expression" and parameter.is_direct:
            return frozenset(kind for member in self._members(function, depth) if (kind := member.callback))
        return NOTHING

    def _annotated(self, annotation: SgNode | None) -> Types:
        if annotation is None or annotation.find(kind="intersection_type") is not None:
            return NOTHING  # `QueryCtx & { member: … }` has members of the answer's own
        names = [self._imported.get(each.text(), "") for each in annotation.find_all(kind="type_identifier")]
        return frozenset().union(*(self._root(_CONTEXT_TYPES[name]) for name in names if name in _CONTEXT_TYPES))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: its position, its type if one is written, and the function itself. `is_part`: only
    a part of the argument has this name, as in `{ name }`."""

    function: SgNode
    position: int
    annotation: SgNode | None
    is_part: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether the function is itself an argument, and not the handler in an object."""
        parent = self.function.parent()
        return parent is not None and parent.kind() == "arguments"


def _parameter(node: SgNode, name: str) -> Parameter | None:
    """The parameter of the nearest function around that has this name."""
    for around in node.ancestors():
        if around.kind() not in _FUNCTIONS:
            continue
        for position, (pattern, annotation) in enumerate(_parameters(around)):
            if pattern.text() == name:
                return Parameter(around, position, annotation)
            if name in _parts(pattern):
                return Parameter(around, position, None, is_part=True)
    return None


def _parameters(function: SgNode) -> Iterator[tuple[SgNode, SgNode | None]]:
    single = function.field("parameter")
    if single is not None:
        yield single, None
        return
    listed = function.field("parameters")
    for child in listed.children() if listed is not None else ():
        pattern = child.field("pattern")
        if child.kind() in ("required_parameter", "optional_parameter") and pattern is not None:
            yield pattern, child.field("type")


def _parts(pattern: SgNode) -> frozenset[str]:
    """The names in `{ a, b: c, ...rest }` or `[a, b]`."""
    if pattern.kind() not in ("object_pattern", "array_pattern"):
        return frozenset()
    kinds = ("identifier", "shorthand_property_identifier_pattern")
    return frozenset(each.text() for kind in kinds for each in pattern.find_all(kind=kind))


def _call_with_handler(function: SgNode) -> SgNode | None:
    """`query(async (ctx) => …)` and `query({ handler: async (ctx) => … })`."""
    for around in function.ancestors():
        if around.kind() == "call_expression":
            given = first_argument(around)
            handlers = [value for name, value in object_entries(given) if name == "handler"]
            arguments = around.field("arguments")
            direct = arguments.children() if arguments is not None else []
            is_handler = any(each.range() == function.range() for each in (*handlers, *direct))
            return around if is_handler else None
        if around.kind() in _FUNCTIONS:
            return None
    return None


def _is_convex(source: str) -> bool:
    return source.startswith("convex/") or "_generated/server" in source


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
    """A name that is missing on one line counts once, however many sources report it."""
    return tuple({(symbol.name, symbol.file, symbol.line): symbol for symbol in symbols}.values())
