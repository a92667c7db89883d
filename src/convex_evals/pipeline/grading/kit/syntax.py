"""Source files by their structure: imports, exports, calls and chains of calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ast_grep_py import SgNode

from convex_evals.pipeline.grading.kit.assertions import closest

_TRANSPARENT: Final = ("await_expression", "parenthesized_expression", "non_null_expression", "as_expression")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a chain: `withIndex("by_channel", …)` has the name `withIndex` and two arguments."""

    name: str
    arguments: tuple[SgNode, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments as they stand there; string literals without their quotes."""
        return tuple(literal(argument) for argument in self.arguments)


@dataclass(frozen=True)
class Chain:
    """`ctx.db.query("messages").withIndex("by_channel", …).take(5)`, from its root to its end."""

    root: str  # "ctx"
    names: tuple[str, ...]  # ("db", "query", "withIndex", "take")
    calls: tuple[Call, ...]  # query, withIndex, take
    node: SgNode

    def call(self, name: str) -> Call | None:
        """The first call of that name in this chain."""
        return next((call for call in self.calls if call.name == name), None)

    def starts_with(self, *names: str) -> bool:
        """`chain.starts_with("db", "query")`, whatever the root is called."""
        return self.names[: len(names)] == names

    @property
    def text(self) -> str:
        return self.node.text()


@dataclass(frozen=True)
class Code:
    """A module, or a part of one."""

    node: SgNode

    @property
    def text(self) -> str:
        return self.node.text()

    def find_all(self, pattern: str) -> list[SgNode]:
        """ast-grep patterns: `$X` is any node, `$$$REST` any number of them."""
        return list(self.node.find_all(pattern=pattern))

    def contains(self, pattern: str) -> bool:
        return self.node.find(pattern=pattern) is not None

    @cached_property
    def chains(self) -> list[Chain]:
        """All chains with at least one call, each at its full length."""
        calls = self.node.find_all(kind="call_expression")
        return [chain for call in calls if not _continues(call) and (chain := _chain(call))]

    def calls_of(self, name: str) -> list[Call]:
        """Calls of a function or method by its name, wherever they stand in a chain."""
        return [call for chain in self.chains for call in chain.calls if call.name == name]


def literal(node: SgNode) -> str:
    """The text of a node; of a string literal, its content."""
    text = node.text()
    return text[1:-1] if node.kind() in ("string", "template_string") else text


def _continues(call: SgNode) -> bool:
    """Whether a chain goes on after this call: then the longer one is the one to look at."""
    parent = call.parent()
    while parent is not None and parent.kind() in _TRANSPARENT:
        call, parent = parent, parent.parent()
    if parent is None or parent.kind() not in ("member_expression", "call_expression"):
        return False
    field = "object" if parent.kind() == "member_expression" else "function"
    head = parent.field(field)
    is_head = head is not None and head.range() == call.range()
    return is_head and (parent.kind() == "call_expression" or _is_called(parent))


def _is_called(member: SgNode) -> bool:
    """Whether a member access leads to a further call."""
    parent = member.parent()
    if parent is None:
        return False
    if parent.kind() == "member_expression":
        return _is_called(parent)
    function = parent.field("function") if parent.kind() == "call_expression" else None
    return function is not None and function.range() == member.range()


def _chain(call: SgNode) -> Chain | None:
    names: list[str] = []
    calls: list[Call] = []
    node: SgNode | None = call
    while node is not None:
        match node.kind():
            case "call_expression":
                arguments, node = _arguments(node), node.field("function")
                if node is not None:
                    calls.append(Call(_last_name(node), arguments))
            case "member_expression":
                names.append(_last_name(node))
                node = node.field("object")
            case kind if kind in _TRANSPARENT:
                node = next(_named_children(node), None)
            case _:
                return Chain(node.text(), tuple(reversed(names)), tuple(reversed(calls)), call)
    return None


def _arguments(call: SgNode) -> tuple[SgNode, ...]:
    arguments = call.field("arguments")
    return () if arguments is None else tuple(_named_children(arguments))


def _named_children(node: SgNode) -> Iterator[SgNode]:
    return (child for child in node.children() if child.is_named() and child.kind() != "comment")


def _last_name(node: SgNode) -> str:
    if node.kind() != "member_expression":
        return node.text()
    name = node.field("property")
    return "" if name is None else name.text()


@dataclass(frozen=True, slots=True)
class Import:
    """`import { query as q } from "./_generated/server"`: `name` is `query`, `alias` is `q`.

    The name of a default import is `default`, that of a namespace is `*`.
    """

    source: str
    name: str
    alias: str
    is_type: bool


@dataclass(frozen=True)
class Module(Code):
    path: str

    @cached_property
    def imports(self) -> list[Import]:
        statements = self.node.find_all(kind="import_statement")
        return [each for statement in statements for each in _imports(statement)]

    def imports_from(self, source: str) -> set[str]:
        """The names imported from a module."""
        return {each.name for each in self.imports if each.source == source}

    def imported_calls(self, source: str, name: str) -> list[Call]:
        """Calls of what a package exports: `useQuery(…)`, `q(…)` if it is imported as `q`, `convex.useQuery(…)`."""
        found = [each for each in self.imports if each.source == source and each.name in (name, "*")]
        beginnings = {(each.alias, name if each.name == "*" else each.alias) for each in found}
        return [chain.calls[0] for chain in self.chains if (chain.root, chain.calls[0].name) in beginnings]

    @property
    def directives(self) -> list[str]:
        """`"use node"` and its like, at the top of the file."""
        texts = []
        for child in self.node.children():
            inner = child.child(0) if child.kind() == "expression_statement" else None
            if inner is not None and inner.kind() == "string":
                texts.append(literal(inner))
            elif child.kind() != "comment":
                break
        return texts

    @cached_property
    def exports(self) -> dict[str, Code]:
        """What is exported under which name, `default` included: the value, function or class itself."""
        return {name: Code(node) for name, node in _exports(self.node)}

    def export(self, name: str) -> Code:
        if name not in self.exports:
            raise AssertionError(f"{self.path} exports no {name}; {closest(name, self.exports)}")
        return self.exports[name]


def _imports(statement: SgNode) -> Iterator[Import]:
    source = statement.field("source")
    clause = next((child for child in statement.children() if child.kind() == "import_clause"), None)
    if source is None or clause is None:
        return
    is_type = any(child.text() == "type" for child in statement.children())
    for child in clause.children():
        match child.kind():
            case "identifier":
                yield Import(literal(source), "default", child.text(), is_type)
            case "namespace_import":
                yield Import(literal(source), "*", child.children()[-1].text(), is_type)
            case "named_imports":
                yield from _named_imports(literal(source), child, is_type)


def _named_imports(source: str, names: SgNode, is_type: bool) -> Iterator[Import]:
    for specifier in names.children():
        name = specifier.field("name") if specifier.kind() == "import_specifier" else None
        if name is None:
            continue
        alias = specifier.field("alias") or name
        own_type = is_type or any(child.text() == "type" for child in specifier.children())
        yield Import(source, name.text(), alias.text(), own_type)


def _exports(root: SgNode) -> Iterator[tuple[str, SgNode]]:
    local = dict(_declarations(root))
    for statement in root.children():
        if statement.kind() != "export_statement":
            continue
        value = statement.field("value")
        declaration = statement.field("declaration")
        is_default = any(child.text() == "default" for child in statement.children())
        if value is not None:
            yield "default", local.get(value.text(), value)
        elif declaration is not None:
            declared = _declared(declaration)
            yield from ((("default" if is_default else name), node) for name, node in declared)
        yield from _export_clause(statement, local)


def _export_clause(statement: SgNode, local: dict[str, SgNode]) -> Iterator[tuple[str, SgNode]]:
    """`export { a as b }`; names that come from another module stand for themselves."""
    for specifier in statement.find_all(kind="export_specifier"):
        name = specifier.field("name")
        if name is not None:
            alias = specifier.field("alias") or name
            yield alias.text(), local.get(name.text(), specifier)


def _declarations(root: SgNode) -> Iterator[tuple[str, SgNode]]:
    for statement in root.children():
        declaration = statement.field("declaration") if statement.kind() == "export_statement" else statement
        if declaration is not None:
            yield from _declared(declaration)


def _declared(declaration: SgNode) -> Iterator[tuple[str, SgNode]]:
    if declaration.kind() in ("lexical_declaration", "variable_declaration"):
        for declarator in declaration.find_all(kind="variable_declarator"):
            owner = declarator.parent()
            name, value = declarator.field("name"), declarator.field("value")
            if name is not None and value is not None and owner is not None and owner.range() == declaration.range():
                yield name.text(), value
        return
    name = declaration.field("name")
    yield ("default" if name is None else name.text()), declaration
