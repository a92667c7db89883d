"""Dependencies as package.json names them: which ones come from the registry, and which would come from elsewhere."""

import re
from typing import Final

LONGEST_NAME: Final = 214
_NAME: Final = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
_RESERVED: Final = frozenset({"node_modules", "favicon.ico"})
# What a range or a tag can consist of. No colon and no slash: those begin addresses and paths.
_RANGE: Final = re.compile(r"[A-Za-z0-9.+*^~<>=| -]{0,200}")


def refuse_name(name: str) -> str | None:
    if len(name) > LONGEST_NAME or name in _RESERVED or not _NAME.fullmatch(name):
        return "is not a name that npm allows"
    return None


def refuse_spec(spec: str) -> str | None:
    """Why a dependency is not installed: only ranges and tags are.

    An alias could put any package under a name that our tools load: convex, esbuild, prettier, typescript.
    """
    if spec.startswith("npm:"):
        return "must have its own name, not an alias"
    if _RANGE.fullmatch(spec) is None or spec.strip().startswith("."):
        return "must come from the registry: a version, a range or a tag"
    return None
