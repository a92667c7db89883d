"""`component.ts` as the CLI writes it: the types of what a component exports, from the deployment's analysis.

The CLI prints types and has prettier format them. This does the same for the shapes that it knows, and gives up on the
others; then the CLI must do it. Tests compare it with prettier.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WIDTH: Final = 80
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_TEXT: Final = re.compile(r"[ !#-&(-\[\]-~]*")  # no quotes, no backslash, ASCII: prettier leaves it as it is
_KEYWORDS: Final = {"null", "number", "bigint", "boolean", "string", "any"}
_LARGEST: Final = 10**15  # of the integers that JavaScript writes with digits only
_FUNCTION: Final = re.compile(r"_reference/function/(?P<module>[^:]+):(?P<name>[^:]+)")
_TOKEN: Final = re.compile(r"_|[0-9]+|[A-Za-z]")
_API: Final = "export type ComponentApi<Name extends string | undefined = string | undefined> =\n"

Json = Mapping[str, Any]


class NeedsCli(Exception):
    """The CLI must write these types."""


@dataclass(frozen=True, slots=True)
class Plain:
    """One word."""

    text: str

    @property
    def flat(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Object:
    fields: tuple[tuple[str, "Type"], ...]  # the name with its question mark, if it has one

    @property
    def flat(self) -> str:
        inner = "; ".join(f"{name}: {type.flat}" for name, type in self.fields)
        return f"{{ {inner} }}" if inner else "{}"


@dataclass(frozen=True, slots=True)
class Generic:
    name: str
    arguments: tuple["Type", ...]

    @property
    def flat(self) -> str:
        return f"{self.name}<{', '.join(each.flat for each in self.arguments)}>"


@dataclass(frozen=True, slots=True)
class Union:
    members: tuple["Type", ...]

    @property
    def flat(self) -> str:
        return " | ".join(each.flat for each in self.members)


Type = Plain | Object | Generic | Union


def component_types(analysis: Json) -> str:
    """The type ComponentApi, from the analysis of one component. Raises NeedsCli."""
    try:
        return f"{_API}  {_branch(analysis['definition']['exports'], analysis['functions'], 2)};\n"
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NeedsCli(f"an analysis of an unknown form ({error!r})") from error


def _branch(exports: Json, functions: Json, indent: int) -> str:
    """Always one entry per line, because the CLI writes them so."""
    entries = sorted(((_named(name), inner) for name, inner in exports["branch"]), key=lambda each: _collated(each[0]))
    lines = []
    for name, inner in entries:
        if inner["type"] == "branch":
            text = _branch(inner, functions, indent + 2)
        else:
            text = printed(_reference(inner["leaf"], functions), indent + 2, len(name) + 2, 1)
        lines.append(f"{' ' * (indent + 2)}{name}: {text};\n")
    return f"{{\n{''.join(lines)}{' ' * indent}}}" if lines else "{}"


def _named(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise NeedsCli(f"the name {name!r}")
    return name


def _collated(name: str) -> tuple[object, ...]:
    """As Intl.Collator sorts names: numbers by their value, small letters before capital ones."""
    parts = _TOKEN.findall(name)
    primary = [
        (0, 0, "") if part == "_" else (1, int(part), "") if part.isdigit() else (2, 0, part.lower()) for part in parts
    ]
    return primary, name.swapcase()


def _reference(reference: str, functions: Json) -> Type:
    match = _FUNCTION.fullmatch(reference)
    if match is None:
        raise NeedsCli(f"the reference {reference!r}")
    module = match["module"] if match["module"].endswith(".js") else f"{match['module']}.js"
    found = [each for each in functions.get(module, {}).get("functions", ()) if each["name"] == match["name"]]
    if not found:
        raise NeedsCli(f"the function {reference!r}")
    kind, arguments = found[0]["udfType"].lower(), _parsed(found[0].get("args"))
    if not isinstance(arguments, Object) and arguments.flat != "any":
        raise NeedsCli("arguments that are no object")
    words = (Plain(f'"{kind}"'), Plain('"internal"'))
    return Generic("FunctionReference", (*words, arguments, _parsed(found[0].get("returns")), Plain("Name")))


def _parsed(validator: str | None) -> Type:
    parsed = json.loads(validator) if validator else None
    return Plain("any") if parsed is None else type_of(parsed)


def type_of(validator: Json) -> Type:
    """Raises NeedsCli."""
    kind = validator["type"]
    if kind in _KEYWORDS:
        return Plain(kind)
    match kind:
        case "bytes":
            return Plain("ArrayBuffer")
        case "id":
            return Plain("string")
        case "literal":
            return Plain(_literal(validator["value"]))
        case "array":
            return Generic("Array", (type_of(validator["value"]),))
        case "record":
            return Generic("Record", (type_of(validator["keys"]), type_of(validator["values"]["fieldType"])))
        case "union" if validator["value"]:
            members = tuple(_flattened(type_of(each) for each in validator["value"]))
            return Union(members) if len(members) > 1 else members[0]
        case "object":
            return Object(tuple(_field(name, field) for name, field in validator["value"].items()))
    raise NeedsCli(f"a validator of the kind {kind!r}")


def _flattened(members: Iterator[Type]) -> Iterator[Type]:
    """A union in a union is written without parentheses."""
    for each in members:
        if isinstance(each, Union):
            yield from each.members
        else:
            yield each


def _field(name: str, field: Json) -> tuple[str, Type]:
    return f"{_named(name)}{'?' if field['optional'] else ''}", type_of(field["fieldType"])


def _literal(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str) and _PLAIN_TEXT.fullmatch(value):
        return f'"{value}"'
    if isinstance(value, int | float) and value == int(value) and 0 < abs(value) < _LARGEST:
        return str(int(value))
    raise NeedsCli(f"the literal {value!r}")


def printed(type: Type, indent: int, before: int, after: int) -> str:
    """As prettier prints a type in a line that is indented so far, with so many characters before and after it.
    Raises NeedsCli."""
    flat = type.flat
    if indent + before + len(flat) + after <= WIDTH:
        return flat
    match type:
        case Plain():
            return flat
        case Object():
            return _broken_object(type, indent)
        case Generic(name, (only,)) if isinstance(only, Object) or _hugs(only):
            return f"{name}<{printed(only, indent, before + len(name) + 1, after + 1)}>"
        case Generic(name, (Plain(text),)) if text in _KEYWORDS:
            return f"{name}<{text}>"
        case Generic(name, arguments):
            return f"{name}<\n{_broken_list(arguments, indent + 2)}{' ' * indent}>"
        case Union(members) if _hugs(type):
            return " | ".join(
                _broken_object(each, indent) if isinstance(each, Object) else each.flat for each in members
            )
        case Union():  # in a line of its own, if it fits there
            fits = indent + 2 + len(flat) + after <= WIDTH
            return f"\n{' ' * (indent + 2)}{flat if fits else _broken_union(type, indent + 2)}"


def _broken_object(type: Object, indent: int) -> str:
    inner = indent + 2
    lines = []
    for name, each in type.fields:
        text = printed(each, inner, len(name) + 2, 1)
        gap = "" if text.startswith("\n") else " "
        lines.append(f"{' ' * inner}{name}:{gap}{text};\n")
    return f"{{\n{''.join(lines)}{' ' * indent}}}"


def _broken_list(arguments: Sequence[Type], indent: int) -> str:
    lines = []
    for number, each in enumerate(arguments, 1):
        comma = "," if number < len(arguments) else ""
        match each:
            case Union() if indent + len(each.flat) + len(comma) > WIDTH and not _hugs(each):
                text = _broken_union(each, indent)
            case _:
                text = printed(each, indent, 0, len(comma))
        lines.append(f"{' ' * indent}{text}{comma}\n")
    return "".join(lines)


def _hugs(type: Type) -> bool:
    """An object or null begins and ends in the line where it stands."""
    rest = [each for each in type.members if each != Plain("null")] if isinstance(type, Union) else []
    return len(rest) == 1 and isinstance(rest[0], Object)


def _broken_union(type: Union, indent: int) -> str:
    """One member per line; only words, because prettier has many rules for the others."""
    if not all(isinstance(each, Plain) for each in type.members):
        raise NeedsCli("a long union of more than words")
    return f"\n{' ' * indent}".join(f"| {each.flat}" for each in type.members)
