"""Where the controls of a suite are, and those of one eval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.controls.control import Control, read_control
from convex_evals.controls.survival import FILE_NAME as EQUIVALENTS
from convex_evals.suite import BrokenError, Eval, Problem, Suite, children

FOLDER: Final = "controls"
DRAFT: Final = ".draft"
"""The suffix of a folder in which somebody writes a control."""
PACKAGED: Final = {"_evals": "_controls"}
"""Inside the installed package the two have other names, because `controls` is a module there."""


@dataclass(frozen=True, slots=True)
class EvalControls:
    """The controls of one eval in the order of their names; `problems` are files that are none."""

    controls: tuple[Control, ...]
    problems: tuple[Problem, ...]


def controls_folder(suite: Path) -> Path:
    """Beside the folder of the suite, or else inside it."""
    if suite.name in PACKAGED:
        return suite.with_name(PACKAGED[suite.name])
    inside = suite / FOLDER
    return inside if inside.is_dir() else suite.parent / FOLDER


def load_controls(folder: Path, eval: Eval, answer: Mapping[str, str]) -> EvalControls:
    """Those in `folder`/<category>/<name>. Nothing there is no problem: the eval has no controls yet."""
    controls: list[Control] = []
    problems: list[Problem] = []
    place = folder / eval.category / eval.name
    for path in children(place) if place.is_dir() else []:
        if path.name == EQUIVALENTS or path.suffix == DRAFT:
            continue
        try:
            controls.append(read_control(path, eval, answer))
        except BrokenError as error:
            problems.append(error.problem)
    return EvalControls(tuple(controls), tuple(problems))


def strays(folder: Path, suite: Suite) -> tuple[Problem, ...]:
    """Folders with controls of evals that the suite does not have."""
    known = {each.id for each in suite.evals}
    broken = {problem.path for problem in suite.problems}
    found = (name for category in _folders(folder) for name in _folders(category))
    return tuple(
        Problem(path, "belongs to no eval of the suite", "rename it like its eval, or remove it")
        for path in found
        if f"{path.parent.name}/{path.name}" not in known and suite.root / path.parent.name / path.name not in broken
    )


def _folders(folder: Path) -> Sequence[Path]:
    return [path for path in children(folder) if path.is_dir()] if folder.is_dir() else []
