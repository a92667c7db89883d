"""The server part of the npm package `convex`, for code that does not bring its own copy."""

import posixpath
import re
from functools import cached_property
from pathlib import Path
from typing import Final

from convex_evals.backend.deployed import Module

ENTRY: Final = "server/index.js"
FOLDER: Final = "_system/convex"
WRAPPERS: Final = Module(
    "_system/repl/wrappers.js",
    f'export {{ queryGeneric as query, internalQueryGeneric as internalQuery }} from "/{FOLDER}/{ENTRY}";',
    None,
    "isolate",
)
IMPORT: Final = re.compile(r"""\bfrom\s+["'](\.{1,2}/[^"']+)["']|^import\s+["'](\.{1,2}/[^"']+)["']""", re.MULTILINE)


class Sdk:
    def __init__(self, package: Path) -> None:
        self._root = package / "dist" / "esm"

    @cached_property
    def modules(self) -> dict[str, Module]:
        """`_system/repl/wrappers.js` and everything it imports, by path."""
        sources: dict[str, str] = {}
        missing = [ENTRY]
        while missing:
            path = missing.pop()
            if path not in sources:
                sources[path] = (self._root / path).read_text()
                missing.extend(_imports(path, sources[path]))
        found = [Module(f"{FOLDER}/{path}", source, None, "isolate") for path, source in sources.items()]
        return {module.path: module for module in [WRAPPERS, *found]}


def _imports(path: str, source: str) -> list[str]:
    folder = posixpath.dirname(path)
    return [posixpath.normpath(posixpath.join(folder, a or b)) for a, b in IMPORT.findall(source)]
