"""Where a suite is: the folder a user names, the nearest `evals/`, the checkout's, or the packaged copy."""

import re
from pathlib import Path

from convex_evals.core.distribution import checkout_root, package_folder
from convex_evals.core.errors import SuiteError
from convex_evals.suite.files import is_generated

EVAL_EXAMPLE = "000-fundamentals/000-empty_functions"
EVAL_PARTS = ("TASK.txt", "answer", "grader.py", "grader.test.ts")
NUMBERED_NAME = re.compile(r"[0-9]{3}-[A-Za-z0-9][A-Za-z0-9_-]*")


def has_numbered_name(path: Path) -> bool:
    return NUMBERED_NAME.fullmatch(path.name) is not None


def find_suite(given: Path | None = None, start: Path | None = None) -> Path:
    """The folder that holds the categories; `given` may be it or a folder that contains it as `evals/`."""
    if given is not None:
        return _named(given)
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if _holds_categories(folder / "evals"):
            return folder / "evals"
    return own_suite()


def own_suite() -> Path:
    """The suite that came with this program."""
    checkout = checkout_root()
    return checkout / "evals" if checkout else package_folder() / "_evals"


def is_candidate(path: Path) -> bool:
    """Whether a folder is meant as a category or an eval: by its number, or by what is in it."""
    return path.is_dir() and (path.name[:1].isdigit() or is_eval(path) or _holds_evals(path))


def is_eval(folder: Path) -> bool:
    try:
        return any((folder / part).exists() for part in EVAL_PARTS)
    except OSError:
        return False


def _named(given: Path) -> Path:
    root = _existing(given)
    if is_eval(root) or (has_numbered_name(root) and _holds_evals(root)):
        suite = root.parent.parent if is_eval(root) else root.parent
        raise SuiteError(f"{given} is one part of a suite; name the suite's folder, {suite}, and choose with --filter.")
    for holds in (_holds_numbered_folders, _holds_categories):
        for folder in (root, root / "evals"):
            if holds(folder):
                return folder
    raise SuiteError(f"{given} holds no evals; expected folders like {EVAL_EXAMPLE}.")


def _existing(given: Path) -> Path:
    try:
        root = given.resolve()
        found = None if root.is_dir() else "is not a folder" if root.exists() else "does not exist"
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        root, found = given, f"cannot be opened ({error})"
    if found:
        raise SuiteError(f"{given} {found}; name a folder that holds evals like {EVAL_EXAMPLE}.")
    return root


def _holds_numbered_folders(folder: Path) -> bool:
    return any(map(has_numbered_name, _folders(folder)))


def _holds_categories(folder: Path) -> bool:
    return any(has_numbered_name(child) or is_eval(child) or _holds_evals(child) for child in _folders(folder))


def _holds_evals(folder: Path) -> bool:
    return any(map(is_eval, _folders(folder)))


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not is_generated(path.name)]
    except OSError:
        return []
