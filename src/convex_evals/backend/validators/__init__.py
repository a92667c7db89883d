"""Validators of arguments, return values and documents."""

from convex_evals.backend.validators.mismatch import TableNames
from convex_evals.backend.validators.parser import load_validator, parse_args_validator, parse_validator
from convex_evals.backend.validators.types import (
    ANY,
    BIGINT,
    BOOLEAN,
    COMMIT_TIMESTAMP,
    NULL,
    NUMBER,
    STRING,
    AnyValidator,
    ArrayValidator,
    Field,
    IdValidator,
    LiteralValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    check,
    is_subset,
)

__all__ = [
    "ANY",
    "BIGINT",
    "BOOLEAN",
    "COMMIT_TIMESTAMP",
    "NULL",
    "NUMBER",
    "STRING",
    "AnyValidator",
    "ArrayValidator",
    "Field",
    "IdValidator",
    "LiteralValidator",
    "ObjectValidator",
    "RecordValidator",
    "TableNames",
    "UnionValidator",
    "Validator",
    "check",
    "is_subset",
    "load_validator",
    "parse_args_validator",
    "parse_validator",
]
