"""JSON as tsconfig files have it: with comments and trailing commas."""

import json
import re
from typing import Final

# Possessive, and an end that is missing is the end of the text: no text takes more than one pass.
_STRING: Final = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_TOKEN: Final = re.compile(rf"{_STRING}|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)


def parse_jsonc(text: str) -> object:
    """Raises ValueError when it is not even that."""
    bare = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    try:
        content: object = json.loads(_TRAILING_COMMA.sub(lambda match: match[1] or "", bare), strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return content
