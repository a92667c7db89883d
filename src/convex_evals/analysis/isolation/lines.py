"""One unit as lines that can be taken from one version of it or the other."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import SequenceMatcher

from convex_evals.analysis.evidence import Hunk
from convex_evals.analysis.isolation.patch import Patch
from convex_evals.analysis.isolation.units import same_text


@dataclass(frozen=True, slots=True)
class LineHunk:
    """Lines of the model's unit that become lines of the reference's."""

    start: int
    end: int
    model: tuple[str, ...]
    expected: tuple[str, ...]


def line_hunks(patch: Patch) -> tuple[LineHunk, ...]:
    """None when one side does not have the unit: then there is nothing to choose."""
    if patch.model is None or patch.expected is None:
        return ()
    model, expected = _lines(patch.model.text), _lines(patch.expected.text)
    matcher = SequenceMatcher(None, [line.strip() for line in model], [line.strip() for line in expected], False)
    return tuple(
        LineHunk(start, end, tuple(model[start:end]), tuple(expected[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal" and not same_text("\n".join(model[start:end]), "\n".join(expected[first:last]))
    )


def with_hunks(patch: Patch, hunks: Collection[LineHunk]) -> str:
    """The model's unit with these hunks applied."""
    assert patch.model is not None
    lines = _lines(patch.model.text)
    for hunk in sorted(hunks, key=lambda each: each.start, reverse=True):
        lines[hunk.start : hunk.end] = hunk.expected
    return "\n".join(lines)


def shown_hunk(patch: Patch, hunk: LineHunk) -> Hunk:
    assert patch.model is not None
    line = patch.model.line + hunk.start
    return Hunk(patch.file, _dedented(hunk.model), _dedented(hunk.expected), line, patch.key)


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines()


def _dedented(lines: tuple[str, ...]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "\n".join(line[min(indents, default=0) :].rstrip() for line in lines)
