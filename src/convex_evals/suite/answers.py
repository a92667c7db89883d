"""The files of an eval: the given project, and the reference answer as a model would have written it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Given:
    """`files` are relative paths and texts; `may_change` are globs of those that an answer may change or delete."""

    files: Mapping[str, str] = field(default_factory=dict)
    may_change: tuple[str, ...] = EVERYTHING

    def __bool__(self) -> bool:
        return bool(self.files)

    @property
    def is_restricted(self) -> bool:
        return self.changeable != tuple(self.files)

    @property
    def changeable(self) -> tuple[str, ...]:
        """The given files that an answer may change or delete."""
        return tuple(path for path in self.files if is_chosen(path, self.may_change))

    def completed(self, answer: Mapping[str, str]) -> dict[str, str]:
        """The whole project: the given files, then those of the answer. An empty file deletes a given one."""
        deleted = {path for path, text in answer.items() if path in self.files and not text.strip()}
        return {path: text for path, text in {**self.files, **answer}.items() if path not in deleted}

    def forbidden_changes(self, answer: Mapping[str, str]) -> list[str]:
        """The given files that an answer changes or deletes although it may not. White space at the ends
        of lines and of the file is not a change."""
        return [
            path
            for path, text in answer.items()
            if path in self.files
            and not is_chosen(path, self.may_change)
            and _normal(text) != _normal(self.files[path])
        ]


def read_given(asked: Eval) -> Given:
    """Empty unless the eval has a folder `given/`."""
    if asked.given is None:
        return Given()
    return Given(read_texts(asked.given), asked.may_change)


def read_question(asked: Eval) -> str:
    """All that a model is told about an eval: the task and, if there are any, the given files."""
    files = (f"given/{path}:\n{text}" for path, text in read_given(asked).files.items())
    return "\n\n".join([asked.task, *files])


def read_answer(asked: Eval, globs: Sequence[str] = EVERYTHING) -> dict[str, str]:
    """The whole reference answer: the given files, and those of `answer/` that the globs choose."""
    return read_given(asked).completed(read_changes(asked, globs))


def _normal(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
