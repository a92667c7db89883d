"""A labelled set: failures whose class somebody has decided, in a JSON file (docs/analysis.md has the shape)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from convex_evals.analysis.evidence import Cause, Evidence
from convex_evals.analysis.gathering import complete
from convex_evals.analysis.scoring.errors import read_error
from convex_evals.analysis.surface import Surface
from convex_evals.core.errors import UsageError
from convex_evals.core.verdicts import CLASSES, STEPS, FailureClass, StepName


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
