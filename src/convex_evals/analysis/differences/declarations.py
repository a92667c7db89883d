"""Functions and tables as modules declare them, with validators in one canonical form each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.analysis.modules import first_argument, object_entries
from convex_evals.pipeline.grading.kit import Chain, Code, Module, literal

_KINDS: Final = frozenset(
    {"query", "mutation", "action", "internalQuery", "internalMutation", "internalAction", "httpAction"}
)
_INDEXES: Final = ("index", "searchIndex", "vectorIndex")
Constants = Mapping[str, SgNode]
_SYNONYMS: Final = {"float64": "number", "bigint": "int64"}
_DEEPEST: Final = 20


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


def canonical(node: SgNode | None, constants: Constants, depth: int = 0) -> str:
    """One line, constants written out, synonyms united, unions and fields sorted."""
    if node is None:
        return ""
    if depth > _DEEPEST:
        return " ".join(node.text().split())
    match node.kind():
        case "identifier" | "shorthand_property_identifier":
            found = constants.get(node.text())
            return node.text() if found is None else canonical(found, constants, depth + 1)
        case "object":
            return f"{{ {', '.join(sorted(_object_fields(node, constants, depth)))} }}"
        case "array":
            return f"[{', '.join(canonical(child, constants, depth + 1) for child in _named(node))}]"
        case "call_expression":
            return _call(node, constants, depth)
        case "member_expression":
            return _member(node, constants, depth)
        case "string":
            return f'"{literal(node)}"'
    return " ".join(node.text().split())


def _call(node: SgNode, constants: Constants, depth: int) -> str:
    function, arguments = node.field("function"), node.field("arguments")
    name = " ".join(function.text().split()) if function is not None else ""
    given = [canonical(child, constants, depth + 1) for child in _named(arguments)] if arguments is not None else []
    owner, _, method = name.rpartition(".")
    method = _SYNONYMS.get(method, method)
    if method == "nullable" and len(given) == 1:
        method, given = "union", [*given, f"{owner}.null()"]
    if method == "union":
        given = sorted(given)
    return f"{owner}.{method}({', '.join(given)})" if owner else f"{name}({', '.join(given)})"


def _member(node: SgNode, constants: Constants, depth: int) -> str:
    """`fields.a` of a constant is the validator behind it; `validator.fields` those of `v.object({ … })`."""
    owner, name = node.field("object"), node.field("property")
    found = constants.get(owner.text()) if owner is not None and owner.kind() == "identifier" else None
    if found is not None and name is not None:
        inner = first_argument(found) if found.kind() == "call_expression" and name.text() == "fields" else None
        if inner is not None:
            return canonical(inner, constants, depth + 1)
        for child in found.children() if found.kind() == "object" else ():
            key = child.field("key") if child.kind() == "pair" else None
            if key is not None and key.text() == name.text():
                return canonical(child.field("value"), constants, depth + 1)
    return " ".join(node.text().split())


def _object_fields(node: SgNode, constants: Constants, depth: int) -> list[str]:
    fields: list[str] = []
    for child in _named(node):
        if child.kind() == "pair":
            key = child.field("key")
            name = key.text().strip("'\"") if key is not None else ""
            fields.append(f"{name}: {canonical(child.field('value'), constants, depth + 1)}")
        elif child.kind() == "spread_element":
            inner = canonical(next(iter(_named(child)), None), constants, depth + 1)
            fields += _split(inner) if inner.startswith("{ ") else [f"...{inner}"]
        elif child.kind() == "shorthand_property_identifier":
            fields.append(f"{child.text()}: {canonical(child, constants, depth + 1)}")
    return fields


def _split(fields: str) -> list[str]:
    """The fields of `{ a: x, b: y }`, at the commas that are not inside of something."""
    parts, level, current = [], 0, ""
    for character in fields[2:-2]:
        level += character in "({["
        level -= character in ")}]"
        if character == "," and level == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [part for part in (*parts, current.strip()) if part]


def _named(node: SgNode) -> list[SgNode]:
    return [child for child in node.children() if child.is_named() and child.kind() != "comment"]
