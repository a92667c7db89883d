"""Typed values as plain ones and back, so that they can cross a pipe as JSON.

JSON and not pickle, because the worker's side of the pipe is next door to code that a model wrote, and reading a pickle
means doing what it says.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def from_plain(kind: type[T], value: Any) -> T:
    """The value as an instance of `kind`. Raises TypeError, KeyError or ValueError when it cannot be one."""
    built: T = _build(kind, value)
    return built


def _build(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _build_optional(kind, value)
    if origin is Literal:
        return _checked(value, value in get_args(kind), kind)
    if origin is tuple:
        return tuple(_build(get_args(kind)[0], each) for each in value)
    if origin is not None and issubclass(origin, Mapping):
        return {str(key): _build(get_args(kind)[1], each) for key, each in value.items()}
    return _build_dataclass(kind, value) if is_dataclass(kind) else _build_scalar(kind, value)


def _build_dataclass(kind: Any, value: Any) -> Any:
    hints = get_type_hints(kind)
    return kind(**{field.name: _build(hints[field.name], value[field.name]) for field in fields(kind)})


def _build_optional(kind: Any, value: Any) -> Any:
    if value is None:
        return _checked(value, types.NoneType in get_args(kind), kind)
    (only,) = (each for each in get_args(kind) if each is not types.NoneType)
    return _build(only, value)


def _build_scalar(kind: Any, value: Any) -> Any:
    if kind is date:
        return date.fromisoformat(value)
    if issubclass(kind, Enum | Path):
        return kind(value)
    return _checked(value, isinstance(value, kind | int if kind is float else kind), kind)


def _checked(value: Any, fits: bool, kind: Any) -> Any:
    if not fits:
        raise TypeError(f"expected {kind}, found {value!r}")
    return value
