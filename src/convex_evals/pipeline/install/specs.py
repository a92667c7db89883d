"""Dependencies as package.json names them: which ones come from the registry, and which would come from elsewhere."""

import re
from typing import Final

LONGEST_NAME: Final = 214
_NAME: Final = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
_RESERVED: Final = frozenset({"node_modules", "favicon.ico"})
# What a range or a tag can consist of. No colon and no slash: those begin addresses and paths.
_RANGE: Final = re.compile(r"[A-Za-z0-9.+*xX^~<>=| -]{0,200}")
# Names that the pipeline itself runs: somebody else's package must not answer to them.
_OURS: Final = re.compile(r"convex|typescript|esbuild|@esbuild/.*|@typescript/.*")


def refuse_name(name: str) -> str | None:
    if len(name) > LONGEST_NAME or name in _RESERVED or not _NAME.fullmatch(name):
        return "is not a name that npm allows"
    return None


def refuse_spec(name: str, spec: str) -> str | None:
    """Why a dependency is not installed: only ranges, tags and aliases of registry packages are."""
    alias = spec.removeprefix("npm:")
    if alias == spec:
        return None if _is_range(spec) else _ELSEWHERE
    target, _, wanted = alias.rpartition("@") if "@" in alias[1:] else (alias, "", "*")
    if refuse_name(target) or not _is_range(wanted):
        return _ELSEWHERE
    if target != name and (_OURS.fullmatch(name) or _OURS.fullmatch(target)):
        return "must not be an alias"
    return None


_ELSEWHERE: Final = "must come from the registry: a version, a range or a tag"


def _is_range(spec: str) -> bool:
    return _RANGE.fullmatch(spec) is not None and not spec.strip().startswith((".", "~/"))
