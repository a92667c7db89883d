"""Reports on disk: the folder of a model, a report as Markdown and JSON, and actions written into it later.

JSON keys are in camel case; fields are added, never renamed.
"""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from convex_evals.analysis.evidence import Action
from convex_evals.analysis.report.markdown import report_markdown
from convex_evals.analysis.report.types import Report
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.files import write_file
from convex_evals.core.ids import prefix
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


LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class ReportPaths:
    markdown: Path
    json: Path


def report_folder(root: Path, provider: str, model: str) -> Path:
    """A provider's name in front of the model's is not repeated."""
    own = model.removeprefix(f"{provider}/")
    return root / _safe(provider) / _safe(own)


def report_paths(root: Path, provider: str, model: str, run: str, date: str) -> ReportPaths:
    stem = report_folder(root, provider, model) / f"{prefix(run)}_{date}"
    return ReportPaths(stem.with_name(f"{stem.name}.md"), stem.with_name(f"{stem.name}.json"))


def _safe(name: str) -> str:
    """One folder, whatever the name: `replay:/home/ada/answers` has slashes and `..` would lead out."""
    text = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "unnamed"
    if text == name and len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{text[:LONGEST]}-{digest}"


def keep_report(report: Report, paths: ReportPaths) -> Report:
    """Writes both files. Actions that the file of the same name has recorded are kept; returns what was written."""
    earlier = read_report(paths.json) if paths.json.is_file() else None
    if earlier is not None and earlier.run.id == report.run.id:
        added = tuple(action for action in report.actions if action not in earlier.actions)
        report = replace(report, actions=(*earlier.actions, *added))
    _write(report, paths)
    return report


def record_action(path: Path, action: Action) -> Report:
    """Appends an action to a report. Raises UsageError when there is no such report or failure."""
    report, paths = open_report(path).report, find_report(path)
    evals = tuple(_failed_eval(report, name, paths) for name in action.evals)
    report = replace(report, actions=(*report.actions, replace(action, evals=evals)))
    _write(report, paths)
    return report


def read_report(path: Path) -> Report | None:
    """None when it cannot be read."""
    try:
        return report_from_json(json.loads(path.read_bytes()))
    except (OSError, KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class KeptReport:
    report: Report
    paths: ReportPaths


def open_report(path: Path) -> KeptReport:
    """By its Markdown or its JSON file. Raises UsageError when there is none."""
    paths = find_report(path)
    report = read_report(paths.json)
    if report is None:
        raise UsageError(f"{paths.json} is not a report of this program; `convex-evals analyze RUN` writes one.")
    return KeptReport(report, paths)


def newest_report(root: Path, provider: str, model: str, run: str) -> KeptReport | None:
    """Of this run, if there is one that can be read."""
    for path in sorted(report_folder(root, provider, model).glob(f"{prefix(run)}_*.json"), reverse=True):
        report = read_report(path)
        if report is not None and report.run.id == run:
            return KeptReport(report, find_report(path))
    return None


def find_report(path: Path) -> ReportPaths:
    """A report by its Markdown or its JSON file."""
    paths = ReportPaths(path.with_suffix(".md"), path.with_suffix(".json"))
    if path.suffix not in (".md", ".json") or not paths.json.is_file():
        raise UsageError(f"There is no report {str(path)!r}: name a file like reports/PROVIDER/MODEL/0a1b2c3d_DATE.md.")
    return paths


def _failed_eval(report: Report, name: str, paths: ReportPaths) -> str:
    known = dict.fromkeys(failure.eval for failure in report.failures)
    found = [each for each in known if name in (each, each.partition("/")[2])]
    if len(found) == 1:
        return found[0]
    raise UsageError(f"{name!r} is not a failure of {paths.markdown.name}; it has: {', '.join(known) or 'none'}.")


def _write(report: Report, paths: ReportPaths) -> None:
    texts = {
        paths.json: json.dumps(report_json(report), indent=2, ensure_ascii=False) + "\n",
        paths.markdown: report_markdown(report),
    }
    try:
        paths.markdown.parent.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            write_file(path, text.encode(errors="replace"))
    except OSError as error:
        raise InfrastructureError(f"The report cannot be written to {paths.markdown}: {error.strerror}.") from error
