"""The project that an answer starts from: files that are there before the model writes any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from convex_evals.suite.answers import is_chosen, read_changes, read_texts
from convex_evals.suite.eval import Eval
from convex_evals.suite.eval_settings import EVERYTHING


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
        of lines and of the file is no change."""
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
