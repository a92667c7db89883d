"""What every value must satisfy, whoever made it."""

from typing import Final

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.values.size import format_size, nesting_of, size_of
from convex_evals.backend.values.types import Value

MAX_FIELD_NAME_LENGTH: Final = 1024
MAX_ARRAY_LENGTH: Final = 8192
MAX_OBJECT_FIELDS: Final = 1024
MAX_NESTING: Final = 64
MAX_SIZE: Final = 32 * 2**20


def check_limits(value: Value) -> None:
    """Names, lengths, nesting and size. `decode` has checked all but the size already."""
    nesting = nesting_of(value)
    if nesting > MAX_NESTING:
        raise too_nested(nesting)
    _check_containers(value)
    check_size(size_of(value), MAX_SIZE)


def check_size(size: int, maximum: int) -> None:
    if size > maximum:
        raise DeveloperError(f"Value is too large ({format_size(size)} > maximum size {format_size(maximum)})")


def check_array_length(length: int) -> None:
    if length > MAX_ARRAY_LENGTH:
        raise DeveloperError(f"Array length is too long ({length} > maximum length {MAX_ARRAY_LENGTH})")


def check_field_count(count: int) -> None:
    if count > MAX_OBJECT_FIELDS:
        raise DeveloperError(f"Object has too many fields ({count} > maximum number {MAX_OBJECT_FIELDS})")


def is_field_name(name: str) -> bool:
    return len(name) <= MAX_FIELD_NAME_LENGTH and name[:1] != "$" and name.isascii() and name.isprintable()


def check_field_name(name: str) -> None:
    if is_field_name(name):
        return
    length = len(name.encode(errors="surrogatepass"))
    if length > MAX_FIELD_NAME_LENGTH:
        raise DeveloperError(f"Field name is too long ({length} > maximum {MAX_FIELD_NAME_LENGTH})")
    if name.startswith("$"):
        raise DeveloperError(f"Field name {name} starts with '$', which is reserved.")
    invalid = next(character for character in name if not " " <= character <= "~")
    raise DeveloperError(
        f"Field name {name} has invalid character '{invalid}': "
        "Field names can only contain non-control ASCII characters"
    )


def too_nested(nesting: int) -> DeveloperError:
    return DeveloperError(f"Value is too nested (nested {nesting} levels deep > maximum nesting {MAX_NESTING})")


def _check_containers(value: Value) -> None:
    if isinstance(value, list):
        for item in value:
            _check_containers(item)
        check_array_length(len(value))
    elif isinstance(value, dict):
        for name in sorted(value):
            check_field_name(name)
            _check_containers(value[name])
        check_field_count(len(value))
