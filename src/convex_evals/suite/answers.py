"""The reference answer as a model would have written it: relative paths and texts."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from convex_evals.suite.eval import Eval
from convex_evals.suite.eval_settings import EVERYTHING
from convex_evals.suite.files import files_below, read_bytes


def read_changes(asked: Eval, globs: Sequence[str] = EVERYTHING) -> dict[str, str]:
    """The files in `answer/` that the globs choose. Pictures are left out: models write text."""
    return read_texts(asked.answer, globs)


def read_texts(folder: Path, globs: Sequence[str] = EVERYTHING) -> dict[str, str]:
    """Every text file below a folder that the globs choose, by its path with `/`, in stable order."""
    texts: dict[str, str] = {}
    for path in files_below(folder):
        name = path.relative_to(folder).as_posix()
        text = _text(read_bytes(path)) if is_chosen(name, globs) else None
        if text is not None:
            texts[name] = text
    return texts


def is_chosen(name: str, globs: Sequence[str]) -> bool:
    """A glob without `/` matches names in any folder; `**` stands for any number of folders."""
    return any(_matches(PurePosixPath(name).parts, _glob_parts(glob)) for glob in globs)


def _glob_parts(glob: str) -> tuple[str, ...]:
    parts = PurePosixPath(glob).parts
    return parts if len(parts) > 1 else ("**", *parts)


def _matches(parts: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    if not globs:
        return not parts
    if globs[0] == "**":
        return _matches(parts, globs[1:]) or (bool(parts) and _matches(parts[1:], globs))
    return bool(parts) and fnmatchcase(parts[0], globs[0]) and _matches(parts[1:], globs[1:])


def _text(content: bytes) -> str | None:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
