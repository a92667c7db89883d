"""Does one validator accept everything another one accepts? "No" may also mean that it is not obvious."""

from convex_evals.backend.validators.types import (
    ANY,
    STRING,
    ArrayValidator,
    IdValidator,
    LiteralValidator,
    ObjectValidator,
    PrimitiveValidator,
    RecordValidator,
    UnionValidator,
    Validator,
)


def is_subset(a: Validator, b: Validator) -> bool:
    if a == b or b == ANY:
        return True
    if isinstance(a, UnionValidator):
        return all(is_subset(member, b) for member in a.members)
    if isinstance(b, UnionValidator):
        return any(is_subset(a, member) for member in b.members)
    match a, b:
        case LiteralValidator(), PrimitiveValidator():
            return type(a.value) in b.accepts
        case IdValidator(), _:
            return b == STRING
        case PrimitiveValidator(), PrimitiveValidator():
            return a.accepts <= b.accepts
        case ArrayValidator(), ArrayValidator():
            return is_subset(a.element, b.element)
        case RecordValidator(), RecordValidator():
            return is_subset(a.keys, b.keys) and is_subset(a.values, b.values)
        case ObjectValidator(), RecordValidator():
            return b.keys == STRING and all(is_subset(field.validator, b.values) for field in a.fields.values())
        case ObjectValidator(), ObjectValidator():
            return _is_object_subset(a, b)
        case _:
            return False


def _is_object_subset(a: ObjectValidator, b: ObjectValidator) -> bool:
    if not a.fields.keys() <= b.fields.keys():
        return False
    for name, wider in b.fields.items():
        narrower = a.fields.get(name)
        if narrower is None:
            if not wider.optional:
                return False
        elif (narrower.optional and not wider.optional) or not is_subset(narrower.validator, wider.validator):
            return False
    return True
