"""What is kept of an attempt, and what the suite at hand says about its eval. What is damaged or gone says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.scores import PlannedEval
from convex_evals.suite import Eval, Given, Suite, read_answer, read_given, read_text
from convex_evals.web.pages.diff import FileDiff, compare_answers
from convex_evals.web.pages.text import source_lines

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

MOST_FILES: Final = 60


@dataclass(frozen=True, slots=True)
class Kept:
    """A text of the scores; without it, `problem` says why."""

    artifact: str
    text: str | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`anchor` begins the ids of its lines. Of very many files only some have lines."""

    path: str
    anchor: str
    size: int
    lines: tuple[Markup, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """The eval in the suite at hand. What has changed is not what the run was asked or graded with."""

    task: str
    files: Mapping[str, str]
    grader: SourceFile | None
    gaps: str | None
    task_changed: bool
    grader_changed: bool
    given: Given = field(default_factory=Given)


class ShownDiff(NamedTuple):
    anchor: str
    diff: FileDiff


@dataclass(frozen=True, slots=True)
class Answer:
    """The files of the model, as they are and against the reference."""

    files: tuple[SourceFile, ...] = ()
    diffs: tuple[ShownDiff, ...] = ()
    problem: str = ""
    places: Mapping[tuple[str, int], str] = field(default_factory=dict)  # where on the page a line of a file is shown

    def place(self, path: str | None, line: int | None) -> str | None:
        """The id of the element that shows this line, if one does."""
        return self.places.get((path, line)) if path and line else None


def kept_text(store: "ScoresStore", artifact: str) -> Kept:
    try:
        return Kept(artifact, store.read_text(artifact))
    except ConvexEvalsError as error:
        return Kept(artifact, None, str(error))


def find_reference(suite: Suite | None, planned: PlannedEval) -> Reference | None:
    """None: this server has no suite, or the suite has no such eval any more."""
    found = next((each for each in suite.evals if each.id == planned.eval), None) if suite else None
    if found is None:
        return None
    return Reference(
        found.task,
        read_answer(found),
        _grader(found),
        found.gaps,
        planned.content is not None and planned.content != found.fingerprints.content,
        planned.grader is not None and planned.grader != found.fingerprints.grader,
        read_given(found),
    )


def read_model_answer(store: "ScoresStore", artifact: str | None, reference: Reference | None) -> Answer:
    if artifact is None:
        return Answer(problem="The model gave no answer.")
    try:
        texts = store.read_files(artifact)
    except (ConvexEvalsError, ValueError) as error:
        return Answer(problem=str(error))
    files = tuple(_sources(texts))
    compared = compare_answers(reference.files, reference.given.completed(texts)) if reference else ()
    diffs = tuple(ShownDiff(f"d{number}", each) for number, each in enumerate(compared[:MOST_FILES], 1))
    return Answer(files, diffs, places={**_lines_of_files(files), **_lines_of_diffs(diffs)})


def _sources(texts: Mapping[str, str]) -> Iterator[SourceFile]:
    for number, (path, text) in enumerate(sorted(texts.items()), 1):
        lines = source_lines(path, text) if number <= MOST_FILES else ()
        yield SourceFile(path, f"f{number}", len(text.encode(errors="replace")), lines)


def _grader(found: Eval) -> SourceFile | None:
    if found.grader is None:
        return None
    text = read_text(found.grader.path)
    return SourceFile(found.grader.path.name, "g", len(text), source_lines(found.grader.path.name, text))


def _lines_of_files(files: Sequence[SourceFile]) -> dict[tuple[str, int], str]:
    numbered = ((each, number) for each in files for number in range(1, len(each.lines) + 1))
    return {(each.path, number): f"{each.anchor}-{number}" for each, number in numbered}


def _lines_of_diffs(diffs: Sequence[ShownDiff]) -> dict[tuple[str, int], str]:
    return {
        (shown.diff.path, line.number): f"{shown.anchor}-{line.number}"
        for shown in diffs
        for block in shown.diff.blocks
        for line in block.new
    }
