"""Loads a suite from its folder. A broken eval is reported; the rest still load."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.core.errors import SuiteError
from convex_evals.suite.eval import Eval
from convex_evals.suite.files import children, read_bytes, refuse_link
from convex_evals.suite.fingerprints import Entry, entry, fingerprint
from convex_evals.suite.locations import EVAL_EXAMPLE, is_candidate, is_eval
from convex_evals.suite.problems import BrokenError, Problem
from convex_evals.suite.reading import check_name, entries_below, read_eval
from convex_evals.suite.settings import FILE_NAME, SuiteSettings, read_settings
from convex_evals.suite.suite import Suite

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
    path = root / FILE_NAME
    if path not in children(root):
        return
    loading.entries.append(entry(FILE_NAME, read_bytes(path)))
    read = read_settings(path)
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
            loading.evals.append(read.eval)
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
