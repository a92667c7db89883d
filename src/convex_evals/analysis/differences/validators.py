"""Validators in one spelling, so that only those differ that mean something else."""

from collections.abc import Mapping
from typing import Final

from ast_grep_py import SgNode

from convex_evals.analysis.modules import first_argument
from convex_evals.pipeline.grading.kit import literal

Constants = Mapping[str, SgNode]
_SYNONYMS: Final = {"float64": "number", "bigint": "int64"}
_DEEPEST: Final = 20


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
            return f"{{ {', '.join(sorted(_fields(node, constants, depth)))} }}"
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


def _fields(node: SgNode, constants: Constants, depth: int) -> list[str]:
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
