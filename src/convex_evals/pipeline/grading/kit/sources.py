"""The fixture `files`: what the model wrote, for checks that behaviour cannot make.

As texts, and by structure: imports, exports, calls and chains of calls.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ast_grep_py import SgNode, SgRoot

from convex_evals.pipeline.grading.kit.assertions import closest
from convex_evals.pipeline.project_config import parse_jsonc

_TRANSPARENT: Final = ("await_expression", "parenthesized_expression", "non_null_expression", "as_expression")
NOT_WRITTEN: Final = frozenset({"node_modules", "_generated", ".git", "dist"})
LANGUAGES: Final = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".tsx": "tsx",
    ".js": "tsx",
    ".jsx": "tsx",
    ".mjs": "tsx",
}
REFLECTION: Final = (
    "$VALUE as unknown as $TYPE",
    "Reflect.$METHOD($$$ARGUMENTS)",
    "Object.getPrototypeOf($VALUE)",
    "Object.getOwnPropertyNames($VALUE)",
    "Object.getOwnPropertyDescriptors($VALUE)",
)
LISTS_OF_MEMBERS: Final = ("Object.keys($VALUE)", "Object.values($VALUE)", "Object.entries($VALUE)")
CONTEXT: Final = re.compile(r"(ctx|context)\b")
LONGEST_SEARCH: Final = 80


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


def _is_of_context(call: SgNode) -> bool:
    """`Object.keys(ctx.meta)`: is the argument a context, or a part of one?"""
    return any(CONTEXT.match(argument.text()) for argument in _arguments(call))


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


@dataclass(frozen=True)
class Sources:
    """Paths are relative to the project, like `convex/messages.ts`. Generated files are not among them."""

    root: Path
    _modules: dict[str, Module] = field(default_factory=dict, repr=False)

    def paths(self, pattern: str = "**/*") -> list[str]:
        """All files that match a glob, sorted."""
        found = (path.relative_to(self.root) for path in self.root.glob(pattern))
        return sorted(path.as_posix() for path in found if self._is_written(path))

    def exists(self, path: str) -> bool:
        return self._is_written(Path(path))

    def text(self, path: str) -> str:
        if not self.exists(path):
            raise AssertionError(f"there is no file {path}; {closest(path, self.paths())}")
        return (self.root / path).read_text(errors="replace")

    @property
    def package_json(self) -> dict[str, Any]:
        return self.json("package.json")

    def json(self, path: str) -> dict[str, Any]:
        """The object in a JSON file; comments and trailing commas are allowed, as in tsconfig.json."""
        try:
            content = parse_jsonc(self.text(path))
        except ValueError as error:
            raise AssertionError(f"{path} is not valid JSON: {error}") from error
        if not isinstance(content, dict):
            raise AssertionError(f"{path} must hold a JSON object, not {content!r}")
        return content

    def module(self, path: str) -> Module:
        """A TypeScript or JavaScript file, parsed."""
        if path not in self._modules:
            language = LANGUAGES[PurePosixPath(path).suffix]
            self._modules[path] = Module(SgRoot(self.text(path), language).root(), path)
        return self._modules[path]

    def modules(self, pattern: str = "convex/**/*") -> list[Module]:
        """All TypeScript and JavaScript files that match a glob, parsed."""
        return [self.module(path) for path in self.paths(pattern) if PurePosixPath(path).suffix in LANGUAGES]

    def imported_calls(self, source: str, name: str, pattern: str = "src/**/*") -> list[Call]:
        """Calls of a function that a package exports, in all files that match, whatever they call it."""
        return [call for module in self.modules(pattern) for call in module.imported_calls(source, name)]

    def searches(self, pattern: str = "convex/**/*") -> list[str]:
        """Code that looks for what an object has instead of naming it: casts through `unknown`, reflection, and
        lists of what a context has."""
        found = (
            f"{module.path}: {match.text()[:LONGEST_SEARCH]}"
            for module in self.modules(pattern)
            for each in REFLECTION + LISTS_OF_MEMBERS
            for match in module.find_all(each)
            if each in REFLECTION or _is_of_context(match)
        )
        return sorted(set(found))

    def _is_written(self, path: Path) -> bool:
        full = self.root / path
        return not NOT_WRITTEN.intersection(path.parts) and full.is_file() and not full.is_symlink()
