"""A labelled set: failures whose class someone has decided, in a JSON file (docs/analysis.md has the shape)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from convex_evals.analysis.evidence import Cause, Evidence, Found, Parity
from convex_evals.analysis.investigation import complete
from convex_evals.analysis.lint import OURS, is_rule
from convex_evals.analysis.surface import Surface
from convex_evals.core.diagnostics import Diagnostic, Place, TestResult, compared, failed_test, finding, stated
from convex_evals.core.errors import UsageError
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import CLASSES, STEPS, FailureClass, StepName
from convex_evals.pipeline import parse_diagnostics, read_cli_errors

LONGEST: Final = 1500  # characters of one message that are kept
_FINDING: Final = re.compile(
    r"^(?P<file>[^\s{\"][^\n:]*):(?P<line>\d+):\d+ (?: ?(?P<rule>[@\w/().-]+): | (?P<column>[@\w/().-]+)  )"
    r"(?P<message>.*)$",
    re.MULTILINE,
)
_TEST: Final = re.compile(
    r"^✗ (?P<name>.+?)(?: \((?P<file>grader[\w.]*):(?P<line>\d+)\))?\n(?P<message>(?:(?!✗ ).*(?:\n|$))*)", re.MULTILINE
)


def read_error(step: StepName, text: str) -> tuple[Diagnostic, ...]:
    """What the text complains about; a text that no tool has written is one complaint."""
    return tuple(_read(step, text)) or tuple(_stated(step, said) for said in (text.strip(),) if said)


def _stated(step: StepName, said: str) -> Diagnostic:
    """In a person's words, in which a test may still have compared two values."""
    expected, received = compared(said) if step == "tests" else (None, None)
    return replace(stated(step, None, said), expected=expected, received=received)


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
    full = [OURS.get(name, name) for name in names if is_rule(name) or f"/{name}" in text]
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
    grader: str = ""
    found: Found = "stated"  # how the snippets were found
    diagnostics: tuple[Diagnostic, ...] = ()  # what the steps found; without them the error is read
    steps: tuple[StepResult, ...] = ()
    tests: TestCounts | None = None
    parity: Parity | None = None


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
    shared = content.get("shared") or {}
    return tuple(
        _case(_whole(entry, shared, f"{path}, case {number}"), f"{path}, case {number}")
        for number, entry in enumerate(cases, start=1)
    )


def _whole(entry: Any, shared: Any, where: str) -> Any:
    """With what the case shares with others, and its files, if they are known as changes of the reference answer."""
    if not isinstance(entry, dict) or "shared" not in entry:
        return entry
    if not isinstance(shared, dict) or entry["shared"] not in shared:
        raise UsageError(f"{where}: 'shared' must name an entry of the set's own 'shared'.")
    whole = {**shared[entry["shared"]], **entry}
    if "changes" not in whole:
        return whole
    changed = {**whole.get("answer", {}), **whole.pop("changes", {})}
    return {**whole, "files": {path: text for path, text in changed.items() if text is not None}}


def case_evidence(case: LabelledCase, surface: Surface | None) -> Evidence:
    """What can be known from a case; never its class."""
    snippets = bool(case.model_snippet or case.expected_snippet)
    evidence = Evidence(
        failed_step=case.failed_step,
        eval=case.eval or case.id,
        category=case.category or case.eval.partition("/")[0],
        task=case.task,
        error=case.error,
        steps=case.steps,
        tests=case.tests,
        parity=case.parity,
        grader=case.grader,
        diagnostics=case.diagnostics or read_error(case.failed_step, case.error),
        files=case.files,
        answer=case.answer,
        gaps=case.gaps,
        cause=Cause(case.found if snippets else "unknown", case.model_snippet, case.expected_snippet),
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
        grader=_text(entry, "grader", where),
        **_recorded(entry, where),
    )


def _recorded(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What only a case has that our own pipeline graded."""
    kinds: dict[str, Any] = {
        "found": Found,
        "diagnostics": tuple[Diagnostic, ...],
        "steps": tuple[StepResult, ...],
        "tests": TestCounts,
        "parity": Parity,
    }
    try:
        return {name: from_plain(kind, entry[name]) for name, kind in kinds.items() if name in entry}
    except ValueError as error:
        raise UsageError(f"{where} has evidence that cannot be read: {error}.") from error


def case_json(id: str, failure_class: FailureClass, evidence: Evidence) -> dict[str, Any]:
    """A failure that our own pipeline graded, as a case with all its evidence."""
    texts = {**dict.fromkeys(evidence.answer), **evidence.files}
    changes = {path: text for path, text in texts.items() if evidence.answer.get(path) != text}
    diagnostics = [replace(each, message=each.message[:LONGEST]) for each in evidence.diagnostics]
    return {
        "id": id,
        "eval": evidence.eval,
        "category": evidence.category,
        "failedStep": evidence.failed_step,
        "class": failure_class,
        "error": evidence.error[:LONGEST],
        "diagnostics": [_brief(each) for each in diagnostics],
        "steps": [{"name": step.name, "status": step.status} for step in evidence.steps],
        "tests": to_plain(evidence.tests or TestCounts(0, 0)),
        "changes": changes,
        "modelSnippet": evidence.cause.model_snippet,
        "expectedSnippet": evidence.cause.expected_snippet,
        "found": evidence.cause.found,
        **({"parity": to_plain(evidence.parity)} if evidence.parity else {}),
        "task": evidence.task,
        "answer": dict(evidence.answer),
        "grader": evidence.grader,
        "gaps": evidence.gaps,
    }


def _brief(diagnostic: Diagnostic) -> dict[str, Any]:
    return {name: value for name, value in to_plain(diagnostic).items() if value not in (None, "")}


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
