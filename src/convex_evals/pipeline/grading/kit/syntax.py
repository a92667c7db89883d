"""Pieces of source code, found by their structure."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ast_grep_py import SgNode

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
