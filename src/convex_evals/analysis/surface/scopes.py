"""What a name stands for in the code of an answer, as far as it is convex's API."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.analysis.modules import first_argument, object_entries
from convex_evals.analysis.surface.surface import Member, Surface
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
        if annotation is None:
            return NOTHING
        names = [self._imported.get(each.text(), "") for each in annotation.find_all(kind="type_identifier")]
        return frozenset().union(*(self._root(_CONTEXT_TYPES[name]) for name in names if name in _CONTEXT_TYPES))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: the how-manieth, its type if one is written, and the function itself."""

    function: SgNode
    position: int
    annotation: SgNode | None

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
        for position, (parameter, annotation) in enumerate(_parameters(around)):
            if parameter == name:
                return Parameter(around, position, annotation)
    return None


def _parameters(function: SgNode) -> Iterator[tuple[str, SgNode | None]]:
    single = function.field("parameter")
    if single is not None:
        yield single.text(), None
        return
    listed = function.field("parameters")
    for child in listed.children() if listed is not None else ():
        if child.kind() in ("required_parameter", "optional_parameter"):
            pattern = child.field("pattern")
            yield ("" if pattern is None else pattern.text()), child.field("type")


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
