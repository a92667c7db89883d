"""One source file: what it imports and exports."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ast_grep_py import SgNode

from convex_evals.pipeline.grading.kit.comparing import closest
from convex_evals.pipeline.grading.kit.syntax import Call, Code, literal


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
