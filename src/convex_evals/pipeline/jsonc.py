"""JSON as tsconfig files have it: with comments and trailing commas."""

import json
import re
from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA: Final = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


def parse_jsonc(text: str) -> object:
    """Raises ValueError when it is not even that."""
    bare = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    try:
        content: object = json.loads(_TRAILING_COMMA.sub(lambda match: match[1] or "", bare))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return content
