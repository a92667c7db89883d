"""A new eval with its controls, made from a template that validates: something to change, not something to fill in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from convex_evals.controls.control import PACKAGED, controls_folder
from convex_evals.core.errors import SuiteError, UsageError
from convex_evals.suite import EVAL_EXAMPLE, NUMBERED_NAME, find_suite, read_texts

TEMPLATE: Final = Path(__file__).parent / "template"
APPRENTICE: Final = "<!-- Written by hand for demonstration: sample/apprentice is not a language model. -->"
"""How each of its recordings begins."""
_NUMBER: Final = re.compile(r"([0-9]{3})-(.+)")
_MOST: Final = 999


@dataclass(frozen=True, slots=True)
class Scaffold:
    """What a new eval consists of; nothing is written yet."""

    category: str
    name: str
    files: dict[Path, str]
    recording: Path | None = None
    """The answer of `sample/apprentice`, where the suite has such answers."""

    def write(self) -> None:
        """Raises UsageError, before anything is written, when a file is there already."""
        for path in self.files:
            if path.exists():
                raise UsageError(f"{path} is there already; choose another name or remove it.")
        for path, text in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def plan_eval(suite: Path, category: str, name: str, *, given: bool = False) -> Scaffold:
    """A new eval in the suite at `suite`, with `given` one that starts from given files. Numbers that are not stated
    are the next free ones. Raises UsageError."""
    category_example, name_example = EVAL_EXAMPLE.split("/")
    category = _existing_category(suite, category) or _new_category(suite, category, category_example)
    name = _numbered(_names(suite / category), name, name_example)
    package = name.partition("-")[2].replace("_", "-").lower()
    texts = _texts("change" if given else "eval", package)
    if given:
        texts |= {f"given/{path}": text for path, text in _texts("eval/answer", package).items()}
    files = {suite / category / name / path: text for path, text in texts.items()}
    controls = controls_folder(suite) / category / name
    patches = _texts("change_controls" if given else "controls", package)
    files |= {controls / path: text for path, text in patches.items()}
    recordings = suite.parent / "samples" / "apprentice"
    recording = recordings / category / f"{name}.md" if recordings.is_dir() else None
    if recording is not None:
        files[recording] = _recording(texts)
    return Scaffold(category, name, files, recording)


def _texts(folder: str, package: str) -> dict[str, str]:
    return {path: text.replace("$package", package) for path, text in read_texts(TEMPLATE / folder).items()}


def suite_for_writing(given: Path | None) -> Path:
    """The folder of categories that is meant. A folder without evals becomes a new suite. Raises UsageError."""
    if given is not None and _is_new(given):
        return given.resolve() if given.name == "evals" else given.resolve() / "evals"
    suite = find_suite(given)
    if suite.name in PACKAGED:
        raise UsageError("There is no suite here to add an eval to; name its folder with --evals DIR.")
    return suite


def _is_new(given: Path) -> bool:
    if given.exists() and not given.is_dir():
        raise SuiteError(f"{given} is not a folder; name one that holds evals like {EVAL_EXAMPLE}, or a new one.")
    return not given.exists() or not any(given.iterdir())


def _existing_category(suite: Path, asked: str) -> str | None:
    """`002-queries`, `002` or `queries`, if there is one."""
    return next((name for name in _names(suite) if asked in (name, *name.split("-", 1))), None)


def _new_category(suite: Path, asked: str, example: str) -> str:
    """A name that is close to a category's is taken for a typo, unless it comes with a number."""
    taken = _names(suite)
    made = _numbered(taken, asked, example)
    close = get_close_matches(asked, [name[4:] for name in taken], n=1, cutoff=0.75)
    if close:
        raise UsageError(f"There is no category {asked!r}; did you mean {close[0]}? A new one would be {made}.")
    return made


def _names(folder: Path) -> list[str]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path.name for path in found if path.is_dir() and NUMBERED_NAME.fullmatch(path.name))


def _numbered(taken: list[str], asked: str, example: str) -> str:
    given = _NUMBER.fullmatch(asked)
    number, word = (given[1], given[2]) if given else (_next_number(taken), asked)
    name = f"{number}-{word}"
    if not NUMBERED_NAME.fullmatch(name):
        raise UsageError(f"{asked!r} cannot be a name; expected a word, or a number and a word like {example}.")
    for other in taken:
        if other[:3] == number or other[4:] == word:
            raise UsageError(f"There is {other} already; choose another {'number' if other[4:] != word else 'name'}.")
    return name


def _next_number(taken: Iterable[str]) -> str:
    number = max((int(name[:3]) for name in taken), default=-1) + 1
    if number > _MOST:
        raise UsageError(f"There is no number after {_MOST}; begin another category.")
    return f"{number:03}"


def _recording(texts: dict[str, str]) -> str:
    """The answer as a model would have given it, to be made wrong as models do."""
    prefix = "answer/"
    blocks = [
        f"## {path.removeprefix(prefix)}\n\n```{path.rpartition('.')[2]}\n{text.rstrip()}\n```"
        for path, text in texts.items()
        if path.startswith(prefix)
    ]
    return "\n\n".join([APPRENTICE, "# Files", *blocks]) + "\n"
