"""The rules for names: identifiers (functions, tables, indexes, components, validated fields) and fields of values."""

import re
from typing import Final

from convex_evals.backend.errors import DeveloperError

MAX_IDENTIFIER_LENGTH: Final = 64
MAX_FIELD_NAME_LENGTH: Final = 1024

_CHARACTER = re.compile(r"[A-Za-z0-9_]")
_FIRST_CHARACTER = re.compile(r"[A-Za-z_]")


def identifier_error(text: str) -> str | None:
    """Why `text` is not an identifier, or None if it is one."""
    length = len(text.encode(errors="surrogatepass"))
    if length > MAX_IDENTIFIER_LENGTH:
        return f"Identifier is too long ({length} > maximum {MAX_IDENTIFIER_LENGTH})"
    if not text:
        return "Identifier cannot be empty"
    if not _FIRST_CHARACTER.match(text):
        return (
            f"Invalid first character '{text[0]}' in {text}: "
            "Identifiers must start with an alphabetic character or underscore"
        )
    if not text.strip("_"):
        return f"Identifier {text} cannot have exclusively underscores"
    invalid = next((character for character in text if not _CHARACTER.match(character)), None)
    if invalid is not None:
        return (
            f"Identifier {text} has invalid character '{invalid}': "
            "Identifiers can only contain alphanumeric characters or underscores"
        )
    return None


def is_identifier(text: str) -> bool:
    return identifier_error(text) is None


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
