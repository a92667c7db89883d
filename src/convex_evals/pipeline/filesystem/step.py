"""Writes the project, or says why not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import NOWHERE, Place, stated
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.filesystem.paths import Refusal, clean, is_hidden, refuse, refuse_together, shown
from convex_evals.pipeline.project_config import ConfigError, parse_config
from convex_evals.pipeline.step import RunningStep

MOST_FILES: Final = 500
LARGEST_FILE: Final = 1_000_000
LARGEST_PROJECT: Final = 8_000_000
_QUOTED: Final = 10


def write_project(step: RunningStep, given: Mapping[str, str]) -> StepResult:
    files = {clean(path): text for path, text in given.items()}
    refusals = _refusals(files) if len(files) == len(given) else [_same_path(given)]
    if refusals:
        return _refused(step, refusals, files)
    written = {path: text for path, text in files.items() if not is_hidden(path)}
    for path in sorted(files.keys() - written.keys()):
        step.note(f"{shown(path)} is not written: dotfiles are no part of an answer")
    if not written:
        return step.failed("empty-submission", "The answer holds no files.")
    try:
        _write(step.workspace.project, written)
    except OSError as error:
        return step.failed("disk-full", f"The project cannot be written: {error.strerror}.")
    for path in sorted(written):
        step.say(f"{path}: {len(written[path].encode(errors='replace'))} bytes")
    return step.passed()


def _refusals(files: Mapping[str, str]) -> list[Refusal]:
    single = [refusal for path in files if (refusal := refuse(path))]
    return single or refuse_together(files) or _too_large(files) or _functions_elsewhere(files)


def _functions_elsewhere(files: Mapping[str, str]) -> list[Refusal]:
    """convex.json names the folder that the CLI writes to. One that cannot be read fails when it is needed."""
    try:
        functions = parse_config(files["convex.json"]).functions if "convex.json" in files else None
    except ConfigError:
        return []
    refusal = refuse(clean(functions.rstrip("/"))) if functions is not None else None
    return [Refusal("convex.json", f'"functions": {refusal}', refusal.kind)] if refusal else []


def _same_path(given: Mapping[str, str]) -> Refusal:
    seen: set[str] = set()
    for path in given:
        if clean(path) in seen:
            return Refusal(path, "is there twice")
        seen.add(clean(path))
    raise AssertionError("there are as many files as paths")


def _too_large(files: Mapping[str, str]) -> list[Refusal]:
    if len(files) > MOST_FILES:
        return [Refusal(f"{len(files)} files", f"an answer has at most {MOST_FILES}", "size-refused")]
    sizes = {path: len(text.encode(errors="replace")) for path, text in files.items()}
    large = [
        Refusal(path, f"{size} bytes, and a file has at most {LARGEST_FILE}", "size-refused")
        for path, size in sizes.items()
        if size > LARGEST_FILE
    ]
    if not large and sum(sizes.values()) > LARGEST_PROJECT:
        return [Refusal("all files", f"{sum(sizes.values())} bytes, at most {LARGEST_PROJECT}", "size-refused")]
    return large


def _refused(step: RunningStep, refusals: list[Refusal], files: Mapping[str, str]) -> StepResult:
    for refusal in refusals:
        step.say(str(refusal))
    lines = [str(refusal) for refusal in refusals[:_QUOTED]]
    if len(refusals) > _QUOTED:
        lines.append(f"… and {len(refusals) - _QUOTED} more")
    found = [
        stated("filesystem", each.kind, str(each), Place(shown(each.path)) if each.path in files else NOWHERE)
        for each in refusals
    ]
    return step.failed(refusals[0].kind, "\n".join(lines), found)


def _write(project: Path, files: Mapping[str, str]) -> None:
    """The folder is new, so nothing in it can be a link to elsewhere; exclusive creation would show if it were not."""
    for path, text in files.items():
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
