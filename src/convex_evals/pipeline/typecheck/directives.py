"""Comments that switch checks off. In the checked copy they have no effect; those of the compiler are findings.

They lose their effect wherever they stand, in the same number of bytes: whether some text is a comment is for each tool
to say, and a model could make two tools disagree. A finding, on the other hand, is a comment by its syntax.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ast_grep_py import SgNode, SgRoot

from convex_evals.core.diagnostics import Diagnostic, Place, type_error

SUFFIXES: Final = {
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".tsx", ".js", ".jsx", ".mjs", ".cjs"), "tsx"),
}
_EFFECTIVE: Final = re.compile(
    rb"(?P<ts>@ts)-(?=nocheck|ignore|expect-error)|(?P<lint>[eot][sx]lint)-(?=disable|enable|env)"
    rb"|(?P<lib>no)-(?=default-lib)",
    re.IGNORECASE,
)
_OF_COMPILER: Final = re.compile(r"@ts-(?:nocheck|ignore|expect-error)", re.IGNORECASE)
_OF_LINTER: Final = re.compile(r"(?:es|ox|ts)lint-(?:disable|enable|env)[a-z-]*|^/\*\s*(?:eslint|globals?|exported)\s")
_CONFIGURES: Final = re.compile(rb"/\*\s*+(?:eslint|globals?|exported)\s")
_DECLARES_MODULE: Final = re.compile(rb"\bmodule\b")


@dataclass(frozen=True, slots=True)
class Directives:
    """`errors` are ours, with codes like the compiler's; `notes` are of the linter's directives, which are ignored."""

    errors: tuple[Diagnostic, ...]
    notes: tuple[str, ...]


def remove_directives(copy: Path, files: list[Path]) -> Directives:
    """Rewrites those of `files`, which are all below `copy`, that hold directives."""
    errors: list[Diagnostic] = []
    notes: list[str] = []
    for path in files:
        source = path.read_bytes()
        if not any(pattern.search(source) for pattern in (_EFFECTIVE, _CONFIGURES, _DECLARES_MODULE)):
            continue
        shown, root = path.relative_to(copy).as_posix(), _parse(source, path.suffix)
        found = [*_comments(root, _OF_COMPILER)]
        errors += [_hidden(text.lower(), _place(shown, node)) for node, text in found]
        errors += [replaced(name, _place(shown, node)) for node, name in _replaced(root, copy)]
        for node, text in _comments(root, _OF_LINTER):
            place = _place(shown, node)
            notes.append(f"{shown}({place.line},{place.column}): {text.strip(' /*')} is ignored")
        harmless = _EFFECTIVE.sub(lambda match: (match["ts"] or match["lint"] or match["lib"]) + b"_", source)
        if harmless != source:
            path.write_bytes(harmless)
    return Directives(tuple(errors), tuple(notes))


def replaced(module: str, place: Place) -> Diagnostic:
    return type_error("TS90002", f"'{module}' is installed, so its types must not be declared again.", place)


def _hidden(directive: str, place: Place) -> Diagnostic:
    return type_error("TS90001", f"'{directive}' hides errors, which is not allowed: they must be corrected.", place)


def _parse(source: bytes, suffix: str) -> SgNode:
    return SgRoot(source.decode(errors="replace"), SUFFIXES[suffix]).root()


def _comments(root: SgNode, pattern: re.Pattern[str]) -> Iterator[tuple[SgNode, str]]:
    for node in root.find_all(kind="comment"):
        if (match := pattern.search(node.text())) is not None:
            yield node, match[0]


def _replaced(root: SgNode, copy: Path) -> Iterator[tuple[SgNode, str]]:
    """`declare module "convex/server"` in a file without imports and exports comes before the package itself."""
    if any(child.kind() in {"import_statement", "export_statement"} for child in root.children()):
        return
    for node in root.find_all(kind="module"):
        name = node.field("name")
        if name is None or name.kind() != "string":
            continue
        module = name.text().strip("\"'")
        if is_installed(module, copy):
            yield node, module


def is_installed(module: str, copy: Path) -> bool:
    """Whether an installed package offers this module. A name with escapes is one that someone wants to hide."""
    if "\\" in module:
        return True
    parts = module.split("/")
    package, rest = ("/".join(parts[:2]), parts[2:]) if module.startswith("@") else (parts[0], parts[1:])
    if not package.strip(".") or not module.isprintable():
        return False
    try:
        exports = json.loads((copy / "node_modules" / package / "package.json").read_bytes()).get("exports")
    except (OSError, ValueError, RecursionError, AttributeError):
        return False
    return not isinstance(exports, dict) or not rest or "/".join((".", *rest)) in exports


def _place(file: str, node: SgNode) -> Place:
    start = node.range().start
    return Place(file, start.line + 1, start.column + 1)
