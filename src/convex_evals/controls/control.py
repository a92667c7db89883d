"""Controls: answers whose verdicts are known beforehand, stored as patches of the reference answer.

Step: tests
Test: test_lists_only_active_members
Why: The index is named, but its fields are not compared.

--- a/convex/index.ts
+++ b/convex/index.ts
@@ …
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, get_args

from convex_evals.controls.patches import PatchError, apply_patch, make_patch, parse_patch
from convex_evals.controls.survival import FILE_NAME as EQUIVALENTS
from convex_evals.core.errors import UsageError
from convex_evals.core.files import remove_folder
from convex_evals.core.verdicts import STEPS, StepName
from convex_evals.pipeline import Grade
from convex_evals.suite import BrokenError, Eval, Grader, GraderKind, Problem, Suite, children, read_text, read_texts

Kind = Literal["wrong", "alternative"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SUFFIX: Final = ".patch"
HEADERS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "wrong": ("Step", "Test", "Why"),
    "alternative": ("Expect", "Why"),
}
FOLDER: Final = "controls"
DRAFT: Final = ".draft"
"""The suffix of a folder in which someone writes a control."""
PACKAGED: Final = {"_evals": "_controls"}
"""Inside the installed package the two have other names, because `controls` is a module there."""
_NAME: Final = re.compile(r"(wrong|alternative)-[A-Za-z0-9_][A-Za-z0-9_-]*")
_NOT_WRITTEN_BY_HAND: Final = frozenset({"node_modules", "_generated"})


@dataclass(frozen=True, slots=True)
class StatedTest:
    """The test in which a wrong answer must fail: one of exactly this name if the grader has it (`is_whole`), otherwise
    one whose name begins so."""

    name: str
    is_whole: bool = False

    def __str__(self) -> str:
        return self.name

    def is_among(self, failed: Sequence[str]) -> bool:
        """Whether it is one of those that failed, whatever class it is in and whatever parameters it had."""
        return any(self._fits(name) or self._fits(name.rpartition("::")[2]) for name in failed)

    def _fits(self, name: str) -> bool:
        return name.partition("[")[0] == self.name if self.is_whole else name.startswith(self.name)


@dataclass(frozen=True, slots=True)
class Control:
    """`files` is the answer with the patch applied. A wrong one fails at `step` first, and in `test` if named."""

    name: str  # "wrong-scan"
    kind: Kind
    why: str
    files: Mapping[str, str]
    step: StepName | None = None
    test: StatedTest | None = None


def read_control(path: Path, eval: Eval, answer: Mapping[str, str]) -> Control:
    """Reads a control file. Raises BrokenError with the first thing that is wrong with it."""
    kind = next((kind for kind in KINDS if path.name.startswith(f"{kind}-") and path.suffix == SUFFIX), None)
    if kind is None:
        raise BrokenError(path, "is no control", "name it wrong-….patch or alternative-….patch")
    header, _, diff = read_text(path).replace("\r\n", "\n").partition("\n\n")
    fields = _fields(path, header, kind)
    step, test = (_step(path, fields), _test(path, fields, eval)) if kind == "wrong" else (None, None)
    if kind == "alternative" and fields.get("Expect") != "passed":
        raise BrokenError(path, "does not say what to expect", "write the header Expect: passed")
    return Control(path.stem, kind, fields["Why"], _patched(path, diff, answer), step, test)


def _fields(path: Path, header: str, kind: Kind) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in header.splitlines():
        name, colon, value = line.partition(":")
        if not colon or name not in HEADERS[kind] or name in fields:
            known = ", ".join(HEADERS[kind])
            raise BrokenError(path, f"has the header line {line!r}", f"write {known}, once each, then an empty line")
        fields[name] = value.strip()
    if not fields.get("Why"):
        raise BrokenError(path, "does not say why it is there", "write the header Why: and one sentence")
    return fields


def _step(path: Path, fields: Mapping[str, str]) -> StepName:
    stated = fields.get("Step")
    step = next((step for step in STEPS if step == stated), None)
    if step is None:
        found = f"names the unknown step {stated!r}" if stated else "does not say which step fails first"
        raise BrokenError(path, found, f"write Step: and one of {', '.join(STEPS)}")
    return step


def _test(path: Path, fields: Mapping[str, str], eval: Eval) -> StatedTest | None:
    stated = fields.get("Test")
    if (fields["Step"] == "tests") != bool(stated):
        raise BrokenError(path, "must name a test if, and only if, its step is tests", "write or remove Test:")
    test = find_test(eval.grader, stated) if stated and eval.grader else None
    if stated and test is None:
        raise BrokenError(path, f"names the test {stated!r}, which the grader does not have", "name one that it has")
    return test


def _patched(path: Path, diff: str, answer: Mapping[str, str]) -> Mapping[str, str]:
    try:
        files = apply_patch(parse_patch(diff), answer)
    except PatchError as error:
        raise BrokenError(path, f"cannot be applied: {error}", "make the diff again") from error
    if files == dict(answer):
        raise BrokenError(path, "changes nothing", "make the diff again")
    return files


def find_test(grader: Grader, stated: str) -> StatedTest | None:
    """The test of the grader that is meant: the one of this name, or else those whose names begin so."""
    source = read_text(grader.path)
    if grader.kind is GraderKind.VITEST:
        return StatedTest(stated) if stated.rpartition(" > ")[2] in source else None
    function, bracket, _ = stated.partition("[")
    wanted, names = function.rpartition("::")[2], _python_tests(source)
    found = any(name.startswith(wanted) for name in names)
    return StatedTest(stated, wanted in names and not bracket) if found else None


@lru_cache(maxsize=8)  # every control of an eval names a test of the same grader
def _python_tests(source: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # the grading says so better
        return ()
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return tuple(node.name for node in functions if node.name.startswith("test"))


@dataclass(frozen=True, slots=True)
class EvalControls:
    """The controls of one eval in the order of their names; `problems` are of files that cannot be read as one."""

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


@dataclass(frozen=True, slots=True)
class Draft:
    """A control that is being written: a copy of the reference answer to change, which becomes a patch.

    `answer` is the reference answer, `folder` the copy, `patch` what it becomes.
    """

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
