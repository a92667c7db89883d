"""Fields inside a value, by dotted path."""

from convex_evals.backend.values.types import UNDEFINED, Undefined, Value


def field_at(value: Value, path: tuple[str, ...]) -> Value | Undefined:
    """Descends objects only; anything else on the way makes the field undefined."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return UNDEFINED
        value = value[name]
    return value


def split_path(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))
