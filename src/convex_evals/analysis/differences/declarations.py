"""What the modules of an answer declare: functions with their kinds and validators, and the tables of a schema."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.analysis.differences.validators import Constants, canonical
from convex_evals.analysis.modules import first_argument, object_entries
from convex_evals.pipeline.grading.kit import Chain, Code, Module

_KINDS: Final = frozenset(
    {"query", "mutation", "action", "internalQuery", "internalMutation", "internalAction", "httpAction"}
)
_INDEXES: Final = ("index", "searchIndex", "vectorIndex")


@dataclass(frozen=True, slots=True)
class DeclaredFunction:
    """Validators in one spelling; None when there is none."""

    kind: str
    arguments: str | None
    returns: str | None


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """`fields` has one entry "document" when they are not written as an object. `indexes`: what they cover by name."""

    fields: Mapping[str, str]
    indexes: Mapping[str, str]


def constants_of(modules: Iterable[Module]) -> Constants:
    """Constants by name, from all modules together: what a name means rarely depends on the file."""
    return {name: value for module in modules for name, value in _constants(module.node)}


def declared_functions(module: Module, constants: Constants) -> dict[str, DeclaredFunction]:
    found = {name: _function(code, constants) for name, code in module.exports.items()}
    return {name: function for name, function in found.items() if function is not None}


def declared_tables(module: Module, constants: Constants) -> dict[str, DeclaredTable]:
    """Of a call of `defineSchema`."""
    tables: dict[str, DeclaredTable] = {}
    for call in module.calls_of("defineSchema"):
        given = call.arguments[0] if call.arguments else None
        for name, value in object_entries(_looked_up(given, constants)):
            tables[name] = _table(_looked_up(value, constants), constants)
    return tables


def _function(code: Code, constants: Constants) -> DeclaredFunction | None:
    function = code.node.field("function") if code.node.kind() == "call_expression" else None
    if function is None or function.text() not in _KINDS:
        return None
    entries = dict(object_entries(first_argument(code.node)))
    arguments, returns = entries.get("args"), entries.get("returns")
    return DeclaredFunction(
        function.text(),
        None if arguments is None else canonical(arguments, constants),
        None if returns is None else canonical(returns, constants),
    )


def _table(value: SgNode | None, constants: Constants) -> DeclaredTable:
    chain = next((each for each in Code(value).chains if each.call("defineTable")), None) if value else None
    if chain is None:
        return DeclaredTable({}, {})
    define = chain.call("defineTable")
    fields = _fields(define.arguments[0] if define and define.arguments else None, constants)
    return DeclaredTable(fields, dict(_indexes(chain)))


def _fields(given: SgNode | None, constants: Constants) -> dict[str, str]:
    """`defineTable(v.object({ … }))` means the same as without the call."""
    node = _looked_up(given, constants)
    if node is not None and node.kind() == "call_expression":
        function = node.field("function")
        if function is not None and function.text().endswith(".object"):
            node = _looked_up(first_argument(node), constants)
    if node is None:
        return {}
    if node.kind() != "object" or any(child.kind() == "spread_element" for child in node.children()):
        return {"document": canonical(node, constants)}
    return {name: canonical(value, constants) for name, value in object_entries(node)}


def _indexes(chain: Chain) -> Iterator[tuple[str, str]]:
    for call in chain.calls:
        if call.name in _INDEXES and call.texts:
            kind = "" if call.name == "index" else f"{call.name} "
            yield call.texts[0], kind + " ".join(canonical(each, {}) for each in call.arguments[1:])


def _looked_up(node: SgNode | None, constants: Constants) -> SgNode | None:
    if node is not None and node.kind() in ("identifier", "shorthand_property_identifier"):
        return constants.get(node.text(), node)
    return node


def _constants(root: SgNode) -> Iterator[tuple[str, SgNode]]:
    """Those of the module itself, not of its functions."""
    for declarator in root.find_all(kind="variable_declarator"):
        name, value = declarator.field("name"), declarator.field("value")
        is_outside = not any(around.kind() == "statement_block" for around in declarator.ancestors())
        if name is not None and value is not None and is_outside:
            yield name.text(), value
