"""Findings of the linter: rule, place, message."""

import re
from typing import Final

from convex_evals.analysis.evidence import Diagnostic
from convex_evals.pipeline.lint.rules import rules_for

_FINDING: Final = re.compile(
    r"^(?P<file>[^\s{\"][^\n:]*):(?P<line>\d+):\d+ (?: ?(?P<rule>[@\w/().-]+): | (?P<column>[@\w/().-]+)  )"
    r"(?P<message>.*)$",
    re.MULTILINE,
)
_RULES: Final = {name.rpartition("/")[2]: name for name in rules_for("src")}


def read_findings(output: str) -> list[Diagnostic]:
    """In the order of their places; the same finding at the same place counts once."""
    found = dict.fromkeys(
        (match["file"], int(match["line"]), match["rule"] or match["column"], match["message"])
        for match in _FINDING.finditer(output)
    )
    return [
        Diagnostic("lint", message, name=rule, file=file, line=line, fingerprint=f"lint:{rule}")
        for file, line, rule, message in found
    ]


def read_mentioned_rules(text: str) -> list[Diagnostic]:
    """Rules that a text names without places, as people do."""
    names = dict.fromkeys(re.findall(r"[a-z]+(?:-[a-z]+)+", text))
    full = [_RULES.get(name, name) for name in names if name in _RULES or f"/{name}" in text]
    return [Diagnostic("lint", text, name=name, fingerprint=f"lint:{name}") for name in full]
