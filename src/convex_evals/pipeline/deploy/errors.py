"""Why a project was not deployed: from our own deployment as values, from the CLI as far as its text tells."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.diagnostics import NOWHERE, Diagnostic, Place, bundler_error, refusal

if TYPE_CHECKING:
    from convex_evals.backend import PushRefusal

_BUNDLER: Final = re.compile(
    r"^[✘X] \[ERROR\] (?P<message>.+?)(?: \[plugin [^\]]+\])?\n(?:\s*\n)?"
    r"(?:\s+(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+):)?",
    re.MULTILINE,
)
_REFUSED: Final = re.compile(r"^✖ Error fetching \w+\s+\S+ \d+ [^:\n]+: (?P<code>\w+): (?P<rest>.*)", re.M | re.S)
_PLACE: Final = re.compile(
    r"\(?(?:\.\./|\./)?(?P<file>(?:convex|src)/[\w./-]+?\.[cm]?[jt]sx?):(?P<line>\d+)(?::(?P<column>\d+))?"
)
_HEADING: Final = re.compile(r"(?:Hit an error while .*|Unable to .*|Failed to analyze .*):$")
_FAILED_ANALYSIS: Final = re.compile(r"Failed to analyze (?P<module>\S+?\.js): (?P<rest>.*)", re.S)
_SIGN: Final = re.compile(r"^\s*✖\s*(?:Error:\s*)?")
_SUFFIXES: Final = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs")


def refusal_diagnostic(refused: "PushRefusal", functions: Path) -> Diagnostic:
    """What our own deployment found. `functions` is the folder of the project's functions."""
    at = refused.place
    if at is not None:
        place = Place(at.file, at.line, at.column)
    else:
        place = Place(_source(refused.module, functions)) if refused.module else NOWHERE
    return refusal(refused.code, refused.message.strip(), place)


def read_cli_errors(output: str) -> list[Diagnostic]:
    """From what the CLI printed: all that the bundler complains about, or else the one refusal."""
    bundler = list(_bundler_errors(output))
    if bundler:
        return bundler
    refused = _REFUSED.search(output)
    if refused is not None:
        return [_read_refusal(refused["rest"], refused["code"])]
    return [_read_refusal(output, "Error")] if output.strip() else []


def _bundler_errors(output: str) -> Iterator[Diagnostic]:
    for match in _BUNDLER.finditer(output):
        file = match["file"]
        place = Place(file, int(match["line"]), int(match["column"])) if file else NOWHERE
        yield bundler_error(match["message"].strip(), place)


def _read_refusal(text: str, code: str) -> Diagnostic:
    lines = [_SIGN.sub("", line).rstrip() for line in text.strip().splitlines()]
    told = [line for line in lines if line and not _HEADING.match(line)]
    message = "\n".join(told) or text.strip()
    analysed = _FAILED_ANALYSIS.search(message)
    message = analysed["rest"] if analysed else message
    found = _PLACE.search(message)
    if found is not None:
        place = Place(found["file"], int(found["line"]), int(found["column"]) if found["column"] else None)
    else:
        place = Place(f"convex/{analysed['module'].removesuffix('.js')}.ts") if analysed else NOWHERE
    return refusal(code, message, place)


def _source(module: str, functions: Path) -> str:
    """The file that a bundled module was made from, relative to the project."""
    stem = module.removesuffix(".js")
    suffix = next((each for each in _SUFFIXES if (functions / f"{stem}{each}").is_file()), ".ts")
    return f"{functions.name}/{stem}{suffix}"
