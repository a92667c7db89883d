"""Validators that the arguments of several system functions share."""

from typing import Final

from convex_evals.backend.validators import NULL, NUMBER, STRING, Field, ObjectValidator, UnionValidator, Validator


def optional(validator: Validator) -> Field:
    return Field(validator, optional=True)


def nullable(validator: Validator) -> Validator:
    return UnionValidator((validator, NULL))


def fields(**declared: Validator | Field) -> ObjectValidator:
    entries = {name: entry if isinstance(entry, Field) else Field(entry) for name, entry in declared.items()}
    return ObjectValidator({name: entries[name] for name in sorted(entries)})


COMPONENT_ID: Final = optional(nullable(STRING))

PAGINATION: Final = fields(
    numItems=NUMBER,
    cursor=nullable(STRING),
    endCursor=optional(nullable(STRING)),
    id=optional(NUMBER),
    maximumRowsRead=optional(NUMBER),
    maximumBytesRead=optional(NUMBER),
)
