"""One eval: a task, its reference answer and the grader that tells right from wrong, read from its folder."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path

from convex_evals.suite.eval_settings import (
    EVAL_JSON,
    EVERYTHING,
    MAY_CHANGE,
    EvalSettings,
    Pipeline,
    ReadSettings,
    Tags,
    read_eval_settings,
)
from convex_evals.suite.files import (
    BrokenError,
    Entry,
    Problem,
    check_text,
    children,
    files_below,
    fingerprint,
    fingerprint_entry,
    read_bytes,
    read_text,
    refuse_link,
)
from convex_evals.suite.locations import EVAL_EXAMPLE, has_numbered_name

VARIANTS = "variants"


@dataclass(frozen=True)
class EvalFingerprints:
    content: str
    """Task and reference answer."""
    grader: str | None
    """Grader, eval.json and the suite's shared grader files; None while there is no grader."""


class GraderKind(StrEnum):
    PYTEST = "pytest"
    VITEST = "vitest"


@dataclass(frozen=True)
class Grader:
    kind: GraderKind
    path: Path


@dataclass(frozen=True)
class SuiteSettings:
    """What holds for every eval of a suite: its `suite.json`."""

    packages_before: date | None = None
    """Packages published on or after this day are not installed."""
    answer_files: tuple[str, ...] = ("**/*",)
    """Globs of the files a model may write."""


@dataclass(frozen=True)
class Eval:
    category: str
    name: str
    path: Path
    task: str
    pipeline: Pipeline
    grader: Grader | None
    gaps: str | None
    fingerprints: EvalFingerprints
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    lint_off: tuple[str, ...] = ()
    """Lint rules that do not count in this eval."""
    has_given: bool = False
    may_change: tuple[str, ...] = EVERYTHING
    """Globs of the given files that an answer may change or delete."""
    tags: Tags = field(default_factory=Tags)

    @property
    def id(self) -> str:
        """`category/name`, as it stands in tables, filters and results."""
        return f"{self.category}/{self.name}"

    @property
    def answer(self) -> Path:
        """The folder of the reference answer; with given files, of those that it changes or adds."""
        return self.path / "answer"

    @property
    def given(self) -> Path | None:
        """The folder of the files that an answer starts from, if there are any."""
        return self.path / "given" if self.has_given else None


GRADER_FILES = {"grader.py": GraderKind.PYTEST, "grader.test.ts": GraderKind.VITEST}


@dataclass(frozen=True)
class ReadEval:
    eval: Eval
    warnings: list[Problem]


def read_eval(path: Path, shared_grader: list[Entry]) -> ReadEval:
    """Loads the eval in `path`, or raises `BrokenError` with the first thing that is wrong with it."""
    refuse_link(path)
    check_name(path)
    names = {child.name for child in children(path)}
    task, content = _read_task(path, names)
    content += _answer_entries(path, names)
    read = _read_settings(path, names)
    settings, given = read.settings, _given_entries(path, names, read.settings)
    grader = _find_grader(path, names)
    warnings = list(read.warnings)
    graded: str | None = None
    if grader is None:
        warnings.append(Problem(path, "has no grader yet", "write grader.py"))
    else:
        graded = fingerprint([_text_entry(grader.path), *read.entries, *_variant_entries(path, names), *shared_grader])
    fingerprints = EvalFingerprints(fingerprint([*content, *given]), graded)
    gaps = _read_gaps(path, names)
    found = Eval(
        *(path.parent.name, path.name, path, task, settings.pipeline, grader, gaps, fingerprints),
        lint_off=settings.lint_off,
        has_given=bool(given),
        may_change=settings.may_change,
        tags=settings.tags,
    )
    return ReadEval(found, warnings)


def check_name(path: Path) -> None:
    if not has_numbered_name(path):
        raise BrokenError(path, "is not named with three digits, a dash and a word", f"rename it, as in {EVAL_EXAMPLE}")


def entries_below(folder: Path, name: str) -> list[Entry]:
    """One fingerprint entry per file of a folder, named as if the folder were called `name`."""
    entries = []
    for path in files_below(folder):
        content = read_bytes(path)
        check_text(path, content)
        entries.append(fingerprint_entry(f"{name}/{path.relative_to(folder).as_posix()}", content))
    return entries


def _read_task(path: Path, names: set[str]) -> tuple[str, list[Entry]]:
    if "TASK.txt" not in names:
        raise BrokenError(path, "has no TASK.txt", "write the task there, exactly as models will read it")
    task = read_text(path / "TASK.txt")
    if not task.strip():
        raise BrokenError(path / "TASK.txt", "is empty", "write the task there, exactly as models will read it")
    return task, [fingerprint_entry("TASK.txt", read_bytes(path / "TASK.txt"))]


def _answer_entries(path: Path, names: set[str]) -> list[Entry]:
    answer = path / "answer"
    if "answer" not in names:
        raise BrokenError(path, "has no answer/ folder", "put the reference answer there")
    refuse_link(answer)
    entries = entries_below(answer, "answer")
    if not entries:
        raise BrokenError(answer, "is empty", "put the reference answer there")
    return entries


def _find_grader(path: Path, names: set[str]) -> Grader | None:
    found = [name for name in GRADER_FILES if name in names]
    if len(found) > 1:
        raise BrokenError(path, f"has two graders ({' and '.join(found)})", "keep one of them")
    return Grader(GRADER_FILES[found[0]], path / found[0]) if found else None


def _read_settings(path: Path, names: set[str]) -> ReadSettings:
    if EVAL_JSON not in names:
        return ReadSettings(EvalSettings(), [], [])
    return read_eval_settings(path / EVAL_JSON)


def _given_entries(path: Path, names: set[str], settings: EvalSettings) -> list[Entry]:
    """None without the folder; with it, there is something in it."""
    given = path / "given"
    if "given" not in names:
        if settings.may_change != EVERYTHING:
            raise BrokenError(path / EVAL_JSON, f"has {MAY_CHANGE} without a folder given/", "remove it")
        return []
    refuse_link(given)
    entries = entries_below(given, "given")
    if not entries:
        raise BrokenError(given, "is empty", "put the files there that an answer starts from")
    return entries


def _variant_entries(path: Path, names: set[str]) -> list[Entry]:
    """What a grader tries tests on that a model wrote."""
    if VARIANTS not in names:
        return []
    refuse_link(path / VARIANTS)
    return entries_below(path / VARIANTS, VARIANTS)


def _read_gaps(path: Path, names: set[str]) -> str | None:
    if "GAPS.txt" not in names:
        return None
    return read_text(path / "GAPS.txt").strip() or None


def _text_entry(path: Path) -> Entry:
    content = read_bytes(path)
    check_text(path, content)
    return fingerprint_entry(path.name, content)
