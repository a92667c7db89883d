"""The rule for names of functions, tables, indexes, components and validated fields."""

import re
from typing import Final

MAX_IDENTIFIER_LENGTH: Final = 64

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
