"""Filter expressions: compiled once, evaluated per document."""

import math
import operator
from collections.abc import Callable
from typing import Any, Final, TypeGuard

from convex_evals.backend.database.documents import Document
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.values import (
    INT64_MAX,
    INT64_MIN,
    Undefined,
    Value,
    decode_field,
    display,
    field_at,
    sort_key,
    split_path,
    type_name,
)

Operand = Value | Undefined
Expression = Callable[[Document], Operand]


def compile_predicate(json: object) -> Callable[[Document], bool]:
    """Raises DeveloperError for JSON that is not an expression. The predicate raises it for unsuitable values."""
    expression = compile_expression(json)
    return lambda document: _boolean(expression(document))


def compile_expression(json: object) -> Expression:
    if not isinstance(json, dict) or len(json) != 1:
        raise DeveloperError("Invalid filter: an expression must be an object with one operator")
    ((name, operands),) = json.items()
    if name in _COMPARISONS:
        return _compare(_COMPARISONS[name], *_pair(name, operands))
    if name in _ARITHMETIC:
        return _calculate(name, *_pair(name, operands))
    compiler = _OTHERS.get(name)
    if compiler is None:
        raise DeveloperError(f"Invalid filter: unknown operator {name}")
    return compiler(operands)


def _pair(name: str, operands: object) -> tuple[Expression, Expression]:
    if not isinstance(operands, list) or len(operands) != 2:
        raise DeveloperError(f"Invalid filter: {name} takes two operands")
    return compile_expression(operands[0]), compile_expression(operands[1])


def _many(operands: object) -> list[Expression]:
    if not isinstance(operands, list):
        raise DeveloperError("Invalid filter: $and and $or take an array of operands")
    return [compile_expression(operand) for operand in operands]


def _compare(holds: Callable[[Any, Any], bool], left: Expression, right: Expression) -> Expression:
    def compare(document: Document) -> Operand:
        a, b = left(document), right(document)
        if type(a) is str and type(b) is str:
            return holds(a, b)  # Python orders strings by code point, as Convex does
        return holds(sort_key(a), sort_key(b))

    return compare


def _literal(json: object) -> Expression:
    value = decode_field(json)
    return lambda document: value


def _field(json: object) -> Expression:
    if not isinstance(json, str):
        raise DeveloperError("Invalid filter: $field takes a field path")
    path = split_path(json)
    return lambda document: field_at(document.value, path)


def _and(operands: object) -> Expression:
    expressions = _many(operands)
    return lambda document: all(_boolean(expression(document)) for expression in expressions)


def _or(operands: object) -> Expression:
    expressions = _many(operands)
    return lambda document: any(_boolean(expression(document)) for expression in expressions)


def _not(json: object) -> Expression:
    expression = compile_expression(json)
    return lambda document: not _boolean(expression(document))


def _negate(json: object) -> Expression:
    expression = compile_expression(json)

    def negate(document: Document) -> Operand:
        value = expression(document)
        if type(value) is float:
            return -value
        if not _is_int(value):
            raise DeveloperError(f"Cannot negate {_described(value)}")
        return _in_range(-value, f"Cannot negate {value}")

    return negate


def _calculate(name: str, left: Expression, right: Expression) -> Expression:
    verb, of_floats, of_ints = _ARITHMETIC[name]

    def calculate(document: Document) -> Operand:
        a, b = left(document), right(document)
        if type(a) is float and type(b) is float:
            return of_floats(a, b)
        if not (_is_int(a) and _is_int(b)):
            raise DeveloperError(f"Cannot {verb} {_described(a)} and {_described(b)}")
        if b == 0 and verb in ("divide", "mod"):
            raise DeveloperError(f"Cannot divide {a} by zero")
        return _in_range(of_ints(a, b), f"Cannot {verb} {a} and {b}")

    return calculate


def _boolean(value: Operand) -> bool:
    if isinstance(value, bool):
        return value
    raise DeveloperError(f"Cannot use value {_described(value)} as a Boolean")


def _described(value: Operand) -> str:
    if isinstance(value, Undefined):
        return "undefined (type undefined)"
    return f"{display(value)} (type {type_name(value)})"


def _is_int(value: Operand) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _in_range(result: int, failure: str) -> int:
    if INT64_MIN <= result <= INT64_MAX:
        return result
    raise DeveloperError(f"{failure}: the result is out of range for Int64")


def _divide_floats(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder_of_floats(a: float, b: float) -> float:
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


def _divide_ints(a: int, b: int) -> int:
    """Towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder_of_ints(a: int, b: int) -> int:
    return a - b * _divide_ints(a, b)


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$neq": operator.ne,
    "$lt": operator.lt,
    "$lte": operator.le,
    "$gt": operator.gt,
    "$gte": operator.ge,
}
_ARITHMETIC: Final[dict[str, tuple[str, Callable[[float, float], float], Callable[[Any, Any], int]]]] = {
    "$add": ("add", operator.add, operator.add),
    "$sub": ("subtract", operator.sub, operator.sub),
    "$mul": ("multiply", operator.mul, operator.mul),
    "$div": ("divide", _divide_floats, _divide_ints),
    "$mod": ("mod", _remainder_of_floats, _remainder_of_ints),
}
_OTHERS: Final[dict[str, Callable[[object], Expression]]] = {
    "$literal": _literal,
    "$field": _field,
    "$and": _and,
    "$or": _or,
    "$not": _not,
    "$neg": _negate,
}
