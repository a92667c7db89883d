"""A labelled set: failures whose class somebody has decided, in a JSON file (docs/analysis.md has the shape)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from convex_evals.analysis.evidence import Cause, Evidence
from convex_evals.analysis.investigation import complete
from convex_evals.analysis.surface import Surface
from convex_evals.core.comparisons import compared
from convex_evals.core.diagnostics import Diagnostic, Place, TestResult, failed_test, finding, stated
from convex_evals.core.errors import UsageError
from convex_evals.core.verdicts import CLASSES, STEPS, FailureClass, StepName
from convex_evals.pipeline import parse_diagnostics, read_cli_errors, rules_for

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    id: str
    failed_step: StepName
    failure_class: FailureClass
    eval: str = ""
    category: str = ""
    error: str = ""
    task: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    answer: Mapping[str, str] = field(default_factory=dict)
    model_snippet: str = ""
    expected_snippet: str = ""
    gaps: str = ""


def read_cases(path: Path) -> tuple[LabelledCase, ...]:
    """Raises UsageError, which says what is wrong with which case."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The labelled set {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"The labelled set {path} is not JSON: {error}.") from error
    cases = content.get("cases") if isinstance(content, dict) else None
    if not isinstance(cases, list) or not cases:
        raise UsageError(f'The labelled set {path} must be {{"cases": [ … ]}} with at least one case.')
    return tuple(_case(entry, f"{path}, case {number}") for number, entry in enumerate(cases, start=1))


def case_evidence(case: LabelledCase, surface: Surface | None) -> Evidence:
    """What can be known from a case; never its class."""
    stated = bool(case.model_snippet or case.expected_snippet)
    evidence = Evidence(
        failed_step=case.failed_step,
        eval=case.eval or case.id,
        category=case.category or case.eval.partition("/")[0],
        task=case.task,
        error=case.error,
        diagnostics=read_error(case.failed_step, case.error),
        files=case.files,
        answer=case.answer,
        gaps=case.gaps,
        cause=Cause("stated" if stated else "unknown", case.model_snippet, case.expected_snippet),
    )
    return complete(evidence, surface)


def _case(entry: Any, where: str) -> LabelledCase:
    if not isinstance(entry, dict):
        raise UsageError(f"{where} must be an object.")
    return LabelledCase(
        id=_text(entry, "id", where, required=True),
        failed_step=cast(StepName, _choice(entry, "failedStep", STEPS, where)),
        failure_class=cast(FailureClass, _choice(entry, "class", CLASSES, where)),
        eval=_text(entry, "eval", where),
        category=_text(entry, "category", where),
        error=_text(entry, "error", where),
        task=_text(entry, "task", where),
        files=_files(entry, "files", where),
        answer=_files(entry, "answer", where),
        model_snippet=_text(entry, "modelSnippet", where),
        expected_snippet=_text(entry, "expectedSnippet", where),
        gaps=_text(entry, "gaps", where),
    )


def _text(entry: Mapping[str, Any], name: str, where: str, *, required: bool = False) -> str:
    value = entry.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value):
        raise UsageError(f"{where}: {name!r} must be a text.")
    return value


def _choice(entry: Mapping[str, Any], name: str, choices: tuple[str, ...], where: str) -> str:
    value = entry.get(name)
    if value not in choices:
        raise UsageError(f"{where}: {name!r} must be one of {', '.join(choices)}, but it is {value!r}.")
    return str(value)


def _files(entry: Mapping[str, Any], name: str, where: str) -> dict[str, str]:
    value = entry.get(name) or {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise UsageError(f"{where}: {name!r} must be an object of file names and texts.")
    return value
