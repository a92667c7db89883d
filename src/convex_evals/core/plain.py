"""Typed values as plain ones and back, so that they can cross a pipe or be kept as JSON.

JSON and not pickle, because the worker's side of the pipe is next door to code that a model wrote, and reading a pickle
means doing what it says.
"""

from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def to_plain(value: object) -> Any:
    import msgspec  # most commands neither write nor read any

    return msgspec.to_builtins(value, enc_hook=_path_text)


def from_plain(kind: type[T], value: Any) -> T:
    """The value as an instance of `kind`. Raises ValueError when it cannot be one, and says where."""
    import msgspec

    return msgspec.convert(value, kind, dec_hook=_build_path)


def _path_text(value: Any) -> str:
    if not isinstance(value, Path):
        raise TypeError(f"{value!r} has no plain form")
    return str(value)


def _build_path(kind: type, value: Any) -> Any:
    if kind is not Path:
        raise TypeError(f"{kind} has no plain form")
    return Path(value)
