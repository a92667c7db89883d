"""A module as a sequence of top-level statements that can be taken from one version of it or the other."""

import re
from dataclasses import dataclass
from typing import Final

from ast_grep_py import SgNode

from convex_evals.analysis.modules import parse_module
from convex_evals.pipeline.grading.kit import Import, Module, literal

IMPORTS: Final = "imports"
WHOLE: Final = "(file)"  # no declaration has this name
DIRECTIVE: Final = "directive "
_COMMENT: Final = re.compile(r"\s*(?://|/\*|\*)")
_OBEYED: Final = re.compile(r"@ts-|eslint|oxlint")
_IGNORED: Final = frozenset({"comment", ";", "empty_statement"})


@dataclass(frozen=True, slots=True)
class Unit:
    """`key` is what it declares; `text` has the comments above it; `line` is where the statement begins."""

    key: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class SplitFile:
    """All units in their order. Imports, wherever they stand, are one unit and come first, after directives."""

    units: tuple[Unit, ...]
    imports: tuple[Import, ...] = ()

    def unit(self, key: str) -> Unit | None:
        return next((unit for unit in self.units if unit.key == key), None)


def split_file(path: str, text: str) -> SplitFile:
    """A file that is not a module or cannot be parsed is one unit."""
    module = parse_module(path, text)
    if module is None or module.node.find(kind="ERROR") is not None:
        return SplitFile((Unit(WHOLE, text, 1),))
    return SplitFile(_units(module, text), tuple(module.imports))


def same_text(first: str, second: str) -> bool:
    """Whether two pieces differ in layout and comments at most."""
    return _packed(first) == _packed(second)


def _packed(text: str) -> str:
    """Comments that tools obey stay."""
    lines = [line for line in text.splitlines() if not _COMMENT.match(line) or _OBEYED.search(line)]
    return re.sub(r",(?=[)\]}])", "", re.sub(r"\s+", "", "".join(lines)))


def _units(module: Module, text: str) -> tuple[Unit, ...]:
    imports: list[str] = []
    units: list[Unit] = []
    counted: dict[str, int] = {}
    end = 0
    for node in module.node.children():
        if node.kind() in _IGNORED:
            continue
        start, end = end, node.range().end.index
        piece = text[start:end]
        if node.kind() == "import_statement":
            imports.append(piece)
            continue
        key = _key(node)
        counted[key] = counted.get(key, 0) + 1
        numbered = key if counted[key] == 1 else f"{key} #{counted[key]}"
        units.append(Unit(numbered, piece, node.range().start.line + 1))
    rest = Unit("(end)", text[end:], text.count("\n", 0, end) + 1) if text[end:].strip() else None
    if rest is not None:
        units.append(rest)
    above = [unit for unit in units if unit.key.startswith(DIRECTIVE)]
    return (*above, Unit(IMPORTS, "".join(imports), 1), *(unit for unit in units if unit not in above))


def _key(node: SgNode) -> str:
    """The names that a statement declares, or how it begins: `http.route`."""
    if node.kind() == "export_statement" and node.field("value") is not None:
        return "export default"
    if node.kind() == "expression_statement" and (inner := node.child(0)) is not None and inner.kind() == "string":
        return f"{DIRECTIVE}{literal(inner)}"
    declaration = node.field("declaration") if node.kind() == "export_statement" else node
    if declaration is None:
        return " ".join(node.text().split())[:60]
    name = declaration.field("name")
    if name is not None:
        return name.text()
    names = [found.text() for child in declaration.children() if (found := child.field("name")) is not None]
    return ", ".join(names) or " ".join(declaration.text().partition("(")[0].split())[:60]
