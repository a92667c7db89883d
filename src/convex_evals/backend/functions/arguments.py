"""Checks of what goes into a function and of what comes out."""

from dataclasses import dataclass

import orjson

from convex_evals.backend import limits
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.calls import Returned
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.validators import AnyValidator, TableNames, check, load_validator
from convex_evals.backend.values import (
    COMMIT_TS,
    Value,
    decode,
    decode_pending,
    display,
    dumps,
    encode,
    size_of,
)

PLACEHOLDER = dumps(COMMIT_TS)  # inside a JSON string its quotes would be escaped, so finding it is proof


@dataclass(frozen=True, slots=True)
class Arguments:
    """Checked arguments: JSON text of the argument array, and their size in bytes."""

    text: str
    size: int


def check_arguments(target: Target, args: object, tables: TableNames, *, pending: bool = False) -> Arguments:
    """`args` is parsed JSON: an array of arguments, or one argument. `pending`: commit timestamps may be among them."""
    values = _decode(target, args if isinstance(args, list) else [args], pending)
    size = size_of(values)
    if size > limits.MAX_ARGUMENTS_SIZE:
        raise limits.arguments_too_large(target.shown, size)
    if target.environment == "node" and size > limits.MAX_NODE_ARGUMENTS_SIZE:
        raise limits.node_arguments_too_large()
    problem = _problem(target, values, tables)
    if problem is not None:
        raise DeveloperError(f"ArgumentValidationError: {problem}")
    return Arguments(orjson.dumps(encode(values)).decode(), size)


def _decode(target: Target, args: list[object], pending: bool) -> list[Value]:
    try:
        return [decode_pending(arg) if pending else decode(arg) for arg in args]
    except DeveloperError as error:
        raise DeveloperError(f"Invalid arguments for {target.shown}: {error.message}") from error


def _problem(target: Target, values: list[Value], tables: TableNames) -> str | None:
    validator = load_validator(target.function.args)
    if isinstance(validator, AnyValidator):
        return None
    if len(values) != 1:
        return (
            "Expected to receive a single object as the function's argument. "
            f"Instead received {len(values)} arguments: {display(values)}"
        )
    if not isinstance(values[0], dict):
        return f"Expected to receive an object as the function's argument. Instead received: {display(values[0])}"
    text = check(validator, values[0], tables)
    return None if text is None else f"{text}\n"


def check_returned(target: Target, result: str, tables: TableNames, *, pending: bool = False) -> Returned:
    """`result` is the JSON text that a function's code returned. `pending`: commit timestamps may be in it."""
    shown = target.shown
    try:
        json = orjson.loads(result)
    except orjson.JSONDecodeError as error:
        raise DeveloperError(f"Function {shown} failed. Could not parse return value as json: {error}") from error
    try:
        value = decode_pending(json)
        text = dumps(value)
        if not pending and PLACEHOLDER in text:
            raise DeveloperError("queries cannot return an unresolved commit timestamp")
    except DeveloperError as error:
        raise DeveloperError(f"Function {shown} return value invalid: {error.message}") from error
    size = size_of(value)
    if size > limits.MAX_RETURN_SIZE:
        raise limits.return_too_large(shown, size)
    if target.function.returns != "null":
        problem = check(load_validator(target.function.returns), value, tables)
        if problem is not None:
            raise DeveloperError(f"ReturnsValidationError: {problem}")
    return Returned(text, size)


def resolve_commit_ts(text: str, ts: int) -> str:
    """The value with the commit timestamp in place of its placeholder."""
    return text.replace(PLACEHOLDER, dumps(ts))
