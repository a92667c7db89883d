"""The files of an answer, parsed."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from ast_grep_py import SgNode, SgRoot

from convex_evals.pipeline.grading.kit import LANGUAGES, NOT_WRITTEN, Module


def parse_module(path: str, text: str) -> Module | None:
    """None when it is neither TypeScript nor JavaScript, or written by tools."""
    pure = PurePosixPath(path)
    language = LANGUAGES.get(pure.suffix)
    if language is None or NOT_WRITTEN.intersection(pure.parts):
        return None
    return Module(SgRoot(text, language).root(), path)


def parse_modules(files: Mapping[str, str]) -> dict[str, Module]:
    parsed = {path: parse_module(path, text) for path, text in files.items()}
    return {path: module for path, module in parsed.items() if module is not None}


def object_entries(node: SgNode | None) -> Iterator[tuple[str, SgNode]]:
    """The keys and values of an object literal; `{ a }` and `a() {}` stand for themselves."""
    if node is None or node.kind() != "object":
        return
    for child in node.children():
        match child.kind():
            case "pair":
                key, value = child.field("key"), child.field("value")
                if key is not None and value is not None:
                    yield key.text().strip("'\""), value
            case "shorthand_property_identifier":
                yield child.text(), child
            case "method_definition":
                name = child.field("name")
                if name is not None:
                    yield name.text(), child


def first_argument(call: SgNode) -> SgNode | None:
    arguments = call.field("arguments")
    if arguments is None:
        return None
    return next((child for child in arguments.children() if child.is_named() and child.kind() != "comment"), None)
