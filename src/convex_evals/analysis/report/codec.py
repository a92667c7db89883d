"""A report as JSON and back. Keys are in camel case; fields are added, never renamed."""

import re
from typing import Any, Final

from convex_evals.analysis.report.types import Report
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.core.verdicts import CLASSES

FORMAT: Final = 1


def report_json(report: Report) -> dict[str, Any]:
    content: dict[str, Any] = _renamed(to_plain(report), _camel)
    for entry, failure in zip(content["failures"], report.failures, strict=True):
        entry["class"] = failure.failure_class
        entry["unsure"] = failure in report.unsure
    summary = {
        "byStep": dict(report.by_step()),
        "byClass": {name: report.count(name) for name in CLASSES},
        "labelled": len(report.labels),
        "unsure": len(report.unsure),
        "actionable": report.count("OVERLY_STRICT", "KNOWN_GAP"),
    }
    return {"format": FORMAT, **content, "summary": summary}


def report_from_json(content: Any) -> Report:
    """Raises KeyError, TypeError or ValueError when it is not one of ours."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"a report has the format {FORMAT}")
    plain = _renamed(content, _snake)
    # Reports from before there were several trials in them do not say how many evals there were.
    plain["run"] = {"evals": plain["run"]["total"], "repeats": None, **plain["run"]}
    return from_plain(Report, plain)


def _renamed(value: Any, rename: Any) -> Any:
    if isinstance(value, dict):
        return {rename(key): _renamed(each, rename) for key, each in value.items()}
    return [_renamed(each, rename) for each in value] if isinstance(value, list | tuple) else value


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])[A-Z]", lambda found: f"_{found[0].lower()}", name)
