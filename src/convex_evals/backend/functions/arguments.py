"""Checks of what goes into a function and of what comes out."""

from dataclasses import dataclass

import orjson

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.limits import format_size
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

LARGEST = 16 * 1024 * 1024
LARGEST_FOR_NODE = 5 * 1024 * 1024
PLACEHOLDER = dumps(COMMIT_TS)  # inside a JSON string its quotes would be escaped, so finding it is proof

TOO_LARGE_FOR_NODE = (
    "Node actions arguments size is too large. The maximum size is 5 MiB. Reduce the size of the arguments or consider "
    "using Convex runtime actions instead, which have a 16 MiB limit. See https://docs.convex.dev/functions/runtimes"
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Checked arguments: JSON text of the argument array, and their size in bytes."""

    text: str
    size: int


def check_arguments(target: Target, args: object, tables: TableNames, *, pending: bool = False) -> Arguments:
    """`args` is parsed JSON: an array of arguments, or one argument. `pending`: commit timestamps may be among them."""
    values = _decode(target, args if isinstance(args, list) else [args], pending)
    size = size_of(values)
    if size > LARGEST:
        raise DeveloperError(
            f"Arguments for {target.shown} are too large (actual: {format_size(size)}, limit: {format_size(LARGEST)})"
        )
    if target.environment == "node" and size > LARGEST_FOR_NODE:
        raise DeveloperError(TOO_LARGE_FOR_NODE)
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


@dataclass(frozen=True, slots=True)
class Returned:
    """A checked return value: canonical JSON text, and its size in bytes."""

    text: str
    size: int


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
    if size > LARGEST:
        raise DeveloperError(
            f"Function {shown} return value is too large (actual: {format_size(size)}, limit: {format_size(LARGEST)})"
        )
    if target.function.returns != "null":
        problem = check(load_validator(target.function.returns), value, tables)
        if problem is not None:
            raise DeveloperError(f"ReturnsValidationError: {problem}")
    return Returned(text, size)


def resolve_commit_ts(text: str, ts: int) -> str:
    """The value with the commit timestamp in place of its placeholder."""
    return text.replace(PLACEHOLDER, dumps(ts))
