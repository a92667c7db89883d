"""What people wrote down of a failure: what a tool printed, a test told, or a sentence of their own."""

import re
from collections.abc import Iterator
from typing import Final

from convex_evals.core.comparisons import compared
from convex_evals.core.diagnostics import Diagnostic, Place, TestResult, failed_test, finding, stated
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.deploy.errors import read_cli_errors
from convex_evals.pipeline.lint.rules import rules_for
from convex_evals.pipeline.typecheck.step import parse_diagnostics

_FINDING: Final = re.compile(
    r"^(?P<file>[^\s{\"][^\n:]*):(?P<line>\d+):\d+ (?: ?(?P<rule>[@\w/().-]+): | (?P<column>[@\w/().-]+)  )"
    r"(?P<message>.*)$",
    re.MULTILINE,
)
_RULES: Final = {name.rpartition("/")[2]: name for name in rules_for("src")}
_TEST: Final = re.compile(
    r"^✗ (?P<name>.+?)(?: \((?P<file>grader[\w.]*):(?P<line>\d+)\))?\n(?P<message>(?:(?!✗ ).*(?:\n|$))*)", re.MULTILINE
)


def read_error(step: StepName, text: str) -> tuple[Diagnostic, ...]:
    """What the text complains about; a text that no tool has written is one complaint."""
    return tuple(_read(step, text)) or tuple(stated(step, None, said) for said in (text.strip(),) if said)


def _read(step: StepName, text: str) -> list[Diagnostic]:
    match step:
        case "deploy":
            return read_cli_errors(text)
        case "tsc":
            return list(dict.fromkeys(parse_diagnostics(text)))
        case "eslint":
            return list(dict.fromkeys(_findings(text))) or _mentioned_rules(text)
        case "tests":
            return list(_tests(text))
    return []


def _findings(text: str) -> Iterator[Diagnostic]:
    for match in _FINDING.finditer(text):
        rule = match["rule"] or match["column"]
        yield finding("", rule, match["message"], Place(match["file"], int(match["line"])))


def _mentioned_rules(text: str) -> list[Diagnostic]:
    """Rules that are named without places, as people do."""
    names = dict.fromkeys(re.findall(r"[a-z]+(?:-[a-z]+)+", text))
    full = [_RULES.get(name, name) for name in names if name in _RULES or f"/{name}" in text]
    return [finding("", name, text) for name in full]


def _tests(text: str) -> Iterator[Diagnostic]:
    for match in _TEST.finditer(text):
        message = "\n".join(line.removeprefix("  ") for line in match["message"].rstrip().splitlines())
        expected, received = compared(message)
        line = int(match["line"]) if match["line"] else None
        test = TestResult(match["name"], "failed", message, match["file"], line, expected, received)
        yield failed_test("", test)
