"""A suite: the evals below a folder, its settings, and what is wrong with evals that could not be loaded."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from convex_evals.core.errors import SuiteError
from convex_evals.suite.eval import Eval, SuiteSettings, check_name, entries_below, read_eval
from convex_evals.suite.eval_settings import EVAL_JSON, is_glob, read_eval_settings
from convex_evals.suite.files import (
    BrokenError,
    Entry,
    Problem,
    children,
    describe,
    fingerprint,
    fingerprint_entry,
    read_bytes,
    read_object,
    refuse_link,
    unknown_keys,
)
from convex_evals.suite.locations import EVAL_EXAMPLE, is_candidate, is_eval

SETTINGS_FILE = "suite.json"
SETTINGS_EXAMPLE = '{"packagesBefore": "2026-11-01", "answerFiles": ["**/*"]}'
SETTINGS_KEYS = frozenset({"packagesBefore", "answerFiles"})


@dataclass(frozen=True)
class ReadSettings:
    settings: SuiteSettings
    warnings: list[Problem]


def read_suite_settings(path: Path) -> ReadSettings:
    value = read_object(path, SETTINGS_EXAMPLE)
    settings = SuiteSettings(_packages_before(path, value), _answer_files(path, value))
    return ReadSettings(settings, unknown_keys(path, value, SETTINGS_KEYS))


def _packages_before(path: Path, value: dict[str, object]) -> date | None:
    given = value.get("packagesBefore")
    if given is None:
        return None
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", given, re.ASCII):
        try:
            return date.fromisoformat(given)
        except ValueError:
            pass
    raise BrokenError(path, f"packagesBefore is {describe(given)}", 'write a day like "2026-11-01"')


def _answer_files(path: Path, value: dict[str, object]) -> tuple[str, ...]:
    given = value.get("answerFiles", ["**/*"])
    if isinstance(given, list) and given and all(map(is_glob, given)):
        return tuple(given)
    raise BrokenError(path, f"answerFiles is {describe(given)}", 'write globs below the answer, like ["**/*"]')


@dataclass(frozen=True)
class Suite:
    root: Path
    evals: tuple[Eval, ...]
    fingerprint: str
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    problems: tuple[Problem, ...] = ()
    """What kept an eval (or suite.json) from being loaded."""
    warnings: tuple[Problem, ...] = ()
    """What an author should know about evals that were loaded."""

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.category for each in self.evals))

    @property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """Of each eval that has any, by its id."""
        return {each.id: each.tags.names for each in self.evals if each.tags.names}


def read_tags(root: Path) -> dict[str, tuple[str, ...]]:
    """Those of `Suite.tags`, for whoever needs nothing else of it: loading a whole suite takes much longer."""
    found: dict[str, tuple[str, ...]] = {}
    for path in root.glob(f"*/*/{EVAL_JSON}"):
        with suppress(BrokenError):
            names = read_eval_settings(path).settings.tags.names
            found |= {f"{path.parent.parent.name}/{path.parent.name}": names} if names else {}
    return found


SHARED_GRADER = "grader"


@dataclass
class Loading:
    """What has been read so far, and what could not be."""

    settings: SuiteSettings = field(default_factory=SuiteSettings)
    evals: list[Eval] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        try:
            yield
        except BrokenError as error:
            self.problems.append(error.problem)


def load_suite(root: Path) -> Suite:
    """Loads every eval below `root` (see `find_suite`), in the order of their names."""
    loading = Loading()
    with loading.collecting():
        _load_settings(root, loading)
    with loading.collecting():
        _load_evals(root, loading)
    if not loading.evals and not loading.problems:
        raise SuiteError(f"{root} holds no evals; expected folders like {EVAL_EXAMPLE}.")
    return Suite(
        root=root,
        evals=tuple(loading.evals),
        fingerprint=fingerprint([*loading.entries, *_eval_entries(loading.evals)]),
        settings=loading.settings,
        problems=tuple(loading.problems),
        warnings=tuple(loading.warnings),
    )


def _load_settings(root: Path, loading: Loading) -> None:
    path = root / SETTINGS_FILE
    if path not in children(root):
        return
    loading.entries.append(fingerprint_entry(SETTINGS_FILE, read_bytes(path)))
    read = read_suite_settings(path)
    loading.settings = read.settings
    loading.warnings += read.warnings


def _load_evals(root: Path, loading: Loading) -> None:
    shared: list[Entry] = []
    with loading.collecting():
        shared = _shared_grader(root)
    for category in filter(is_candidate, children(root)):
        with loading.collecting():
            _load_category(category, shared, loading)


def _load_category(category: Path, shared: list[Entry], loading: Loading) -> None:
    refuse_link(category)
    if is_eval(category):
        raise BrokenError(category, "is an eval outside a category", f"move it, as in {EVAL_EXAMPLE}")
    check_name(category)
    for path in filter(is_candidate, children(category)):
        with loading.collecting():
            read = read_eval(path, shared)
            loading.evals.append(replace(read.eval, settings=loading.settings))
            loading.warnings += read.warnings


def _shared_grader(root: Path) -> list[Entry]:
    """Files that graders of a suite import from its `grader/` folder: a change there changes every verdict."""
    for folder in (root / SHARED_GRADER, root.parent / SHARED_GRADER):
        if folder.is_dir():
            refuse_link(folder)
            return entries_below(folder, SHARED_GRADER)
    return []


def _eval_entries(evals: list[Eval]) -> Iterator[Entry]:
    for each in evals:
        yield Entry(each.fingerprints.content, f"{each.id}/content")
        if each.fingerprints.grader is not None:
            yield Entry(each.fingerprints.grader, f"{each.id}/grader")
