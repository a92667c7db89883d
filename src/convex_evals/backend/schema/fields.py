"""Which fields documents of a validator can have."""

from collections.abc import Iterator

from convex_evals.backend.validators import (
    ANY,
    NUMBER,
    AnyValidator,
    ArrayValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    is_subset,
)


def can_have_field(validator: Validator, path: str) -> bool:
    return any(True for _ in _validators_at(validator, path.split(".")))


def can_hold_vector(validator: Validator, path: str) -> bool:
    return any(_overlaps_vector(found) for found in _validators_at(validator, path.split(".")))


def _validators_at(validator: Validator, path: list[str]) -> Iterator[Validator]:
    """Every validator that a value at the path may have to match."""
    match validator:
        case UnionValidator():
            for member in validator.members:
                yield from _validators_at(member, path)
        case AnyValidator():
            yield ANY
        case _ if not path:
            yield validator
        case ObjectValidator() if path[0] in validator.fields:
            yield from _validators_at(validator.fields[path[0]].validator, path[1:])
        case RecordValidator():
            yield from _validators_at(validator.values, path[1:])
        case _:
            return


def _overlaps_vector(validator: Validator) -> bool:
    return validator == ANY or (isinstance(validator, ArrayValidator) and _overlaps_number(validator.element))


def _overlaps_number(validator: Validator) -> bool:
    if isinstance(validator, UnionValidator):
        return any(map(_overlaps_number, validator.members))
    return validator == ANY or is_subset(validator, NUMBER)
