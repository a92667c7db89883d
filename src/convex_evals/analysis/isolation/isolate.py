"""The search for the cause by delta debugging: suspects first, then fewer and fewer changes, down to lines."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from convex_evals.analysis.evidence import Cause, Difference, Evidence, Hunk
from convex_evals.analysis.isolation.patches import LineHunk, Patch, Patches, line_hunks, shown_hunk, with_hunks
from convex_evals.analysis.isolation.probes import Bound, BoundReached, Probe
from convex_evals.analysis.isolation.units import WHOLE
from convex_evals.core.text import count

_CALLED: Final = "called "
Item = TypeVar("Item")
Test = Callable[[Sequence[Item]], Awaitable[bool]]


def with_names_of_answer(reference: Mapping[str, str], differences: Iterable[Difference]) -> dict[str, str]:
    """Indexes that cover the same fields are called in the reference what the answer calls them."""
    names = {
        (each.expected or "").removeprefix(_CALLED): (each.received or "").removeprefix(_CALLED)
        for each in differences
        if each.aspect == "index" and (each.expected or "").startswith(_CALLED)
    }
    if not names:
        return dict(reference)
    pattern = re.compile(rf"([\"'])({'|'.join(map(re.escape, names))})\1")
    return {
        path: pattern.sub(lambda found: f"{found[1]}{names[found[2]]}{found[1]}", text)
        for path, text in reference.items()
    }


AT_THE_PLACE = 6
NAMED = 3
CALLED = 2
SAME_FILE = 1


def by_suspicion(patches: Sequence[Patch], evidence: Evidence) -> list[Patch]:
    """Most suspicious first; equals stay in their order."""
    return sorted(patches, key=lambda patch: -suspicion(patch, evidence))


def suspicion(patch: Patch, evidence: Evidence) -> int:
    """Points for every complaint about the lines, the names or the file of a patch, the best one counting."""
    points = [0]
    for each in evidence.failed_diagnostics[:20]:
        same_file = each.file == patch.file
        at_place = same_file and each.line is not None and patch.covers(each.line)
        said = f"{each.message}\n{each.assertion or ''}\n{each.name or ''}"
        named = any(re.search(rf"\b{re.escape(name)}\b", said) for name in patch.key.split(", ") if len(name) > 3)
        called = patch.key in _called_by(each.name or "", evidence.grader)
        points.append(AT_THE_PLACE * at_place + NAMED * named + CALLED * called + SAME_FILE * same_file)
    return max(points) + _declared_otherwise(patch, evidence)


def _called_by(test: str, grader: str) -> set[str]:
    """The functions that a test of the grader calls by their paths."""
    name = test.partition("[")[0].rpartition(" > ")[2]
    start = grader.find(f"def {name}(") if name else -1
    if start < 0:
        return set()
    body = re.split(r"\n(?=\S)", grader[start:], maxsplit=1)[0]
    return {path.rpartition(":")[2] for path in re.findall(r"[\"']([\w/]+:\w+)[\"']", body)}


def _declared_otherwise(patch: Patch, evidence: Evidence) -> int:
    """A difference in what is declared weighs more than one in how a function is written."""
    if patch.file.endswith("schema.ts"):
        return sum(each.aspect in ("table", "field", "index") for each in evidence.differences) and 2
    return 2 * any(each.place == patch.file and each.name == patch.key for each in evidence.differences)


@dataclass(frozen=True, slots=True)
class Minimum(Generic[Item]):
    """`complete`: no item can be left out. Otherwise the bound was reached and it may be larger than need be."""

    items: tuple[Item, ...]
    complete: bool


async def minimise(items: Sequence[Item], is_enough: Test[Item]) -> Minimum[Item]:
    """ddmin of Zeller and Hildebrandt. All items together must be enough; put suspects first.

    Ends early with what it has when `is_enough` raises BoundReached.
    """
    current = list(items)
    parts = 2
    try:
        while len(current) > 1:
            smaller = await _smaller(current, parts, is_enough)
            if smaller is not None:
                current, parts = smaller.items, smaller.parts
            elif parts >= len(current):
                break
            else:
                parts = min(len(current), 2 * parts)
    except BoundReached:
        return Minimum(tuple(current), complete=len(current) == 1)
    return Minimum(tuple(current), complete=True)


@dataclass(frozen=True, slots=True)
class _Smaller(Generic[Item]):
    items: list[Item]
    parts: int


async def _smaller(items: list[Item], parts: int, is_enough: Test[Item]) -> _Smaller[Item] | None:
    chunks = _chunks(items, parts)
    for chunk in chunks:
        if await is_enough(chunk):
            return _Smaller(chunk, 2)
    if parts == 2:  # the complements are the chunks themselves
        return None
    for index in range(len(chunks)):
        rest = [item for number, chunk in enumerate(chunks) if number != index for item in chunk]
        if await is_enough(rest):
            return _Smaller(rest, max(parts - 1, 2))
    return None


def _chunks(items: list[Item], parts: int) -> list[list[Item]]:
    size, extra = divmod(len(items), parts)
    chunks, start = [], 0
    for number in range(parts):
        end = start + size + (number < extra)
        chunks.append(items[start:end])
        start = end
    return [chunk for chunk in chunks if chunk]


OFF: Final = "No change was tried, because probes are off."
SUSPECTS: Final = 3  # tried alone before the search begins
LOCATED: Final = 2  # shown when nothing is tried
FEW: Final = 2  # differences that need no complaint to be shown
WORTH_SPLITTING: Final = 3  # lines
MOST_SHOWN: Final = 4  # units; more than that explain nothing


def locate_cause(evidence: Evidence, note: str) -> Cause:
    """The differences next to the complaints; nothing is tried. `note` says why."""
    every = _patches(evidence).all()
    patches = [patch for patch in every if suspicion(patch, evidence)]
    # An answer that differs in hardly anything needs no complaint that points there.
    suspects = by_suspicion(patches or (every if len(every) <= FEW else ()), evidence)[:LOCATED]
    hunks = _in_order([hunk for patch in suspects for hunk in _narrow_hunks(patch, evidence)])
    if not hunks:
        return Cause(note=note)
    return _cause("located", hunks, f"{note} Shown are the differences from the reference next to the complaints.")


async def isolate_cause(evidence: Evidence, probe: Probe, bound: Bound) -> Cause:
    """The smallest set of hunks that was found within the bound, or the located differences with the reason."""
    search = _Search(evidence, probe, bound)
    try:
        return await search.run()
    except BoundReached:
        return search.gave_up()


class _Search:
    def __init__(self, evidence: Evidence, probe: Probe, bound: Bound) -> None:
        self._evidence, self._probe, self._bound = evidence, probe, bound
        self._patches = _patches(evidence)

    async def run(self) -> Cause:
        patches = by_suspicion(self._patches.all(), self._evidence)
        if not patches:
            return self._unknown("The answer does not differ from the reference in anything but layout.")
        found = await self._suspect_alone(patches)
        if found is None:
            if not await self._is_enough(patches):
                return self._unknown("Even with everything taken from the reference the step does not pass.")
            found = await minimise(patches, self._is_enough)
        return await self._narrowed(found)

    def gave_up(self) -> Cause:
        if not self._bound.tries:
            return locate_cause(self._evidence, OFF)
        tries, seconds = count(self._bound.tries, "try", "tries"), f"{self._bound.spent:.0f} s"
        return self._unknown(f"No cause was isolated within the bound ({tries}, {seconds}).")

    async def _is_enough(self, patches: Sequence[Patch]) -> bool:
        return await self._probe(self._patches.applied(patches))

    async def _suspect_alone(self, patches: Sequence[Patch]) -> Minimum[Patch] | None:
        suspects = [patch for patch in patches[:SUSPECTS] if suspicion(patch, self._evidence)]
        for patch in suspects if len(patches) > 2 else ():
            if await self._is_enough([patch]):
                return Minimum((patch,), complete=True)
        return None

    async def _narrowed(self, found: Minimum[Patch]) -> Cause:
        """Within the units that are needed, only the lines that are needed."""
        if len(found.items) > MOST_SHOWN:
            return self._too_many(len(found.items))
        items = self._patches.closed(found.items)
        splits = [(patch, hunk) for patch in items if _is_long(patch) for hunk in line_hunks(patch)]
        lines = await minimise(splits, lambda chosen: self._lines_are_enough(items, chosen))
        undivided = sum(patch.key == WHOLE for patch, _ in lines.items)
        if undivided > MOST_SHOWN and not lines.complete:
            return self._too_many(undivided)
        split = {patch for patch, _ in splits}
        whole = [patch.hunk for patch in items if patch not in split]
        hunks = _in_order([*(shown_hunk(patch, hunk) for patch, hunk in lines.items), *whole])
        minimal = found.complete and lines.complete
        note = "" if minimal else " The bound was reached before it was certain that all of it is needed."
        tries = count(self._bound.tries, "try", "tries") if self._bound.tries else "cached"
        text = f"Found by delta debugging ({tries}): with these lines of the reference the step passes.{note}"
        return _cause("isolated", hunks, text, minimal, self._bound)

    async def _lines_are_enough(self, patches: Sequence[Patch], chosen: Sequence[tuple[Patch, LineHunk]]) -> bool:
        texts = {
            (patch.file, patch.key): with_hunks(patch, [hunk for owner, hunk in chosen if owner is patch])
            for patch in patches
            if _is_long(patch)
        }
        return await self._probe(self._patches.applied(patches, texts))

    def _too_many(self, left: int) -> Cause:
        return self._unknown(f"The bound was reached with {left} of the differences left, which together are enough.")

    def _unknown(self, note: str) -> Cause:
        located = locate_cause(self._evidence, note)
        return Cause(
            located.found,
            located.model_snippet,
            located.expected_snippet,
            located.hunks,
            located.note,
            False,
            self._bound.tries,
            self._bound.spent,
        )


def _patches(evidence: Evidence) -> Patches:
    return Patches(evidence.files, with_names_of_answer(evidence.answer, evidence.differences))


def _is_long(patch: Patch) -> bool:
    if patch.model is None or patch.expected is None:
        return False
    return max(patch.model.text.strip().count("\n"), patch.expected.text.strip().count("\n")) >= WORTH_SPLITTING


def _narrow_hunks(patch: Patch, evidence: Evidence) -> list[Hunk]:
    """The lines of a unit that differ, those at the places of complaints if there are such."""
    hunks = [shown_hunk(patch, hunk) for hunk in line_hunks(patch)] if _is_long(patch) else [patch.hunk]
    places = {each.line for each in evidence.failed_diagnostics if each.file == patch.file and each.line}
    near = [hunk for hunk in hunks if any(hunk.line - 1 <= line <= hunk.line + _height(hunk) for line in places)]
    undivided = patch.key == WHOLE and len(hunks) > MOST_SHOWN
    return near or ([] if undivided else hunks)


def _in_order(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """By file, those that the answer has by line, and what it lacks last."""
    files = list(dict.fromkeys(hunk.file for hunk in hunks))
    return tuple(sorted(hunks, key=lambda hunk: (files.index(hunk.file), not hunk.model, hunk.line)))


def _height(hunk: Hunk) -> int:
    return hunk.model.count("\n") + 1


def _cause(found: str, hunks: tuple[Hunk, ...], note: str, minimal: bool = False, bound: Bound | None = None) -> Cause:
    return Cause(
        "isolated" if found == "isolated" else "located",
        _snippet([(hunk.file, hunk.line, hunk.model) for hunk in hunks]),
        _snippet([(hunk.file, 0, hunk.expected) for hunk in hunks]),
        hunks,
        note,
        minimal,
        bound.tries if bound else 0,
        bound.spent if bound else 0.0,
    )


def _snippet(pieces: Sequence[tuple[str, int, str]]) -> str:
    """Pieces of code with the names of their files; what is left out between two of one file is dots."""
    lines: list[str] = []
    last = ""
    for file, line, text in pieces:
        if not text.strip():
            continue
        lines += ["// …"] if file == last else [f"// {file}:{line}" if line else f"// {file}"]
        lines.append(text.strip("\n"))
        last = file
    return "\n".join(lines)
