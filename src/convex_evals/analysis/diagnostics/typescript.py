"""Errors of the TypeScript compiler: code, place, message."""

import re
from typing import Final

from convex_evals.analysis.diagnostics.fingerprints import normalised, without_type_arguments
from convex_evals.analysis.evidence import Diagnostic
from convex_evals.pipeline.typecheck.step import PLACED, parse_diagnostics

ABOUT_MEMBERS: Final = frozenset({"TS2305", "TS2307", "TS2339", "TS2353", "TS2551", "TS2561", "TS2614", "TS2724"})
"""Errors about a name that is not there: the name is the mistake. In others it is whatever the project calls it."""


def read_type_errors(output: str) -> list[Diagnostic]:
    """Each error once, however many areas it was found in."""
    texts = dict.fromkeys(each.text for each in parse_diagnostics(output))
    return [diagnostic for text in texts if (diagnostic := _diagnostic(text))]


def _diagnostic(text: str) -> Diagnostic | None:
    found = PLACED.match(text)
    if found is None:
        return None
    message = text[found.end() :]
    code, line = found["code"], found["line"]
    first = without_type_arguments(message.partition("\n")[0])
    shown = first if code in ABOUT_MEMBERS else re.sub(r"'[^']*'", "'…'", first)
    return Diagnostic(
        "type",
        message,
        name=code,
        file=found["file"],
        line=int(line) if line else None,
        fingerprint=f"type:{code} {normalised(shown)}",
    )
