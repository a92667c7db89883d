"""Validators of arguments, return values and documents."""

from convex_evals.backend.validators.mismatch import Mismatch, TableNames
from convex_evals.backend.validators.parse import load_validator, parse_args_validator, parse_validator
from convex_evals.backend.validators.subset import is_subset
from convex_evals.backend.validators.types import (
    ANY,
    BIGINT,
    BOOLEAN,
    BYTES,
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
    PrimitiveValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    check,
)

__all__ = [
    "ANY",
    "BIGINT",
    "BOOLEAN",
    "BYTES",
    "COMMIT_TIMESTAMP",
    "NULL",
    "NUMBER",
    "STRING",
    "AnyValidator",
    "ArrayValidator",
    "Field",
    "IdValidator",
    "LiteralValidator",
    "Mismatch",
    "ObjectValidator",
    "PrimitiveValidator",
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
