"""A control that is being written: a copy of the reference answer to change, which becomes a patch."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.controls.control import DRAFT, KINDS, SUFFIX, Control, Kind, controls_folder, read_control
from convex_evals.controls.patches import make_patch
from convex_evals.core.errors import UsageError
from convex_evals.core.files import remove_folder
from convex_evals.pipeline import Grade
from convex_evals.suite import Eval, Suite, read_texts

_NAME: Final = re.compile(r"(wrong|alternative)-[A-Za-z0-9_][A-Za-z0-9_-]*")
_NOT_WRITTEN_BY_HAND: Final = frozenset({"node_modules", "_generated"})


@dataclass(frozen=True, slots=True)
class Draft:
    """`answer` is the reference answer, `folder` the copy to change, `patch` what it becomes."""

    eval: Eval
    name: str
    answer: Mapping[str, str]
    folder: Path
    patch: Path

    @classmethod
    def of(cls, suite: Suite, eval: Eval, name: str, answer: Mapping[str, str]) -> "Draft":
        """Raises UsageError when there can be no such control."""
        name = name.removesuffix(SUFFIX)
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"A control is named wrong-… or alternative-…, with letters, digits, _ and - after it, not {name!r}."
            )
        place = controls_folder(suite.root) / eval.category / eval.name
        patch = place / f"{name}{SUFFIX}"
        if patch.exists():
            raise UsageError(f"{patch} is there already; choose another name or remove it.")
        return cls(eval, name, answer, place / f"{name}{DRAFT}", patch)

    @property
    def kind(self) -> Kind:
        return next(kind for kind in KINDS if self.name.startswith(kind))

    @property
    def is_begun(self) -> bool:
        return self.folder.is_dir()

    def begin(self) -> None:
        for path, text in self.answer.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def files(self) -> dict[str, str]:
        """As they are now, without what editors and tools leave behind."""
        texts = read_texts(self.folder)
        return {path: text for path, text in texts.items() if path in self.answer or not _is_left_behind(path)}

    def finish(self, files: Mapping[str, str], grade: Grade, why: str) -> Control:
        """Writes the patch with what the grading found, and removes the copy."""
        header = "\n".join(f"{name}: {value}" for name, value in self._header(grade, why).items())
        self.patch.write_text(f"{header}\n\n{make_patch(self.answer, files)}", encoding="utf-8")
        control = read_control(self.patch, self.eval, self.answer)
        remove_folder(self.folder)
        return control

    def _header(self, grade: Grade, why: str) -> dict[str, str]:
        if self.kind == "alternative":
            return {"Expect": "passed", "Why": why}
        test = {"Test": _stated(grade.failed_tests[0])} if grade.failed_step == "tests" else {}
        return {"Step": str(grade.failed_step), **test, "Why": why}


def _is_left_behind(path: str) -> bool:
    return any(part.startswith(".") or part.endswith("~") or part in _NOT_WRITTEN_BY_HAND for part in path.split("/"))


def _stated(test: str) -> str:
    """Whatever file it is in and whatever parameters it had."""
    return test.rpartition("::")[2].partition("[")[0]
