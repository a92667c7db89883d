"""The difference between an answer and the reference as patches and lines, and an answer with some of them applied."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any, Final

from convex_evals.analysis.evidence import Hunk
from convex_evals.analysis.isolation.units import IMPORTS, WHOLE, SplitFile, Unit, same_text, split_file
from convex_evals.pipeline.grading.kit import Import


@dataclass(frozen=True, slots=True)
class Patch:
    """Takes one unit of one file from the reference; None means that a side does not have it."""

    file: str
    key: str
    model: Unit | None
    expected: Unit | None

    @property
    def hunk(self) -> Hunk:
        model, expected = (unit.text.strip("\n") if unit else "" for unit in (self.model, self.expected))
        return Hunk(self.file, model, expected, self.model.line if self.model else 0, self.key)

    def covers(self, line: int) -> bool:
        """Whether a line of the model's file belongs to it."""
        if self.model is None:
            return False
        return self.model.line <= line <= self.model.line + self.model.text.strip("\n").count("\n")


@dataclass(frozen=True)
class Patches:
    """An answer beside the reference."""

    model: Mapping[str, str]
    expected: Mapping[str, str]
    _model: dict[str, SplitFile] = field(init=False, repr=False, default_factory=dict)
    _expected: dict[str, SplitFile] = field(init=False, repr=False, default_factory=dict)
    _every: list[Patch] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        self._model.update({path: split_file(path, text) for path, text in self.model.items()})
        self._expected.update({path: split_file(path, text) for path, text in self.expected.items()})
        for path in sorted(self.model.keys() | self.expected.keys()):
            if not is_indifferent(path, self.model, self.expected):
                self._every.extend(self._of_file(path))

    def _serves(self, patch: Patch) -> bool:
        return any(other is not patch and self._needs(other, patch) for other in self._every)

    def _needs(self, patch: Patch, other: Patch) -> bool:
        if patch.expected is None or other.expected is None:
            return False
        expected = self._expected.get(patch.file)
        imports = expected.imports if expected else ()
        return needs(patch, other, imports) or needs_index(patch, other, self.model)

    def all(self) -> tuple[Patch, ...]:
        """What differs in more than layout, in the order of the files.

        What only serves other pieces of the reference is not among it: it comes with them.
        """
        served = {patch for patch in self._every if not is_exported(patch) and self._serves(patch)}
        return tuple(patch for patch in self._every if patch not in served)

    def closed(self, patches: Collection[Patch]) -> tuple[Patch, ...]:
        """These patches, and those that their code needs in order to work."""
        found = list(dict.fromkeys(patches))
        for patch in found:  # grows while it is walked through
            found += [each for each in self._every if each not in found and self._needs(patch, each)]
        return tuple(found)

    def applied(self, patches: Collection[Patch], texts: Mapping[tuple[str, str], str] | None = None) -> dict[str, str]:
        """The answer with these patches and what they need. `texts` replaces the text of units, by file and key."""
        files = dict(self.model)
        complete = self.closed(patches)
        for path in {patch.file for patch in complete}:
            chosen = {patch.key: patch for patch in complete if patch.file == path}
            text = self._merged(path, chosen, texts or {})
            if text is None:
                files.pop(path, None)
            else:
                files[path] = text
        return files

    def _of_file(self, path: str) -> Iterator[Patch]:
        ours, theirs = self._expected.get(path), self._model.get(path)
        if ours is None or theirs is None or len(ours.units) == 1 or len(theirs.units) == 1:
            if self.model.get(path) != self.expected.get(path):
                yield Patch(path, WHOLE, _whole(self.model.get(path)), _whole(self.expected.get(path)))
            return
        keys = dict.fromkeys([unit.key for unit in theirs.units] + [unit.key for unit in ours.units])
        for key in keys:
            model, expected = theirs.unit(key), ours.unit(key)
            if key == IMPORTS and set(theirs.imports) == set(ours.imports):
                continue
            if model is None or expected is None or not same_text(model.text, expected.text):
                yield Patch(path, key, model, expected)

    def _merged(self, path: str, chosen: Mapping[str, Patch], texts: Mapping[tuple[str, str], str]) -> str | None:
        if WHOLE in chosen:
            text = texts.get((path, WHOLE))
            return self.expected.get(path) if text is None else f"{text}\n"
        ours, theirs = self._expected[path], self._model[path]
        order = _ordered([unit.key for unit in theirs.units], [unit.key for unit in ours.units], chosen)
        pieces = []
        for key in order:
            unit = (ours if key in chosen else theirs).unit(key)
            if unit is not None:
                pieces.append(texts.get((path, key), unit.text))
            if key == IMPORTS and IMPORTS not in chosen:
                pieces.append(_missing_imports(theirs.imports, ours.imports))
        return "\n".join(piece.strip("\n") for piece in pieces if piece.strip()) + "\n"


def _whole(text: str | None) -> Unit | None:
    return None if text is None else Unit(WHOLE, text, 1)


def _ordered(model: list[str], expected: list[str], chosen: Collection[str]) -> list[str]:
    """The model's order, with what only the reference has behind what stands before it there."""
    order = list(model)
    for position, key in enumerate(expected):
        if key in order or key not in chosen:
            continue
        before = next((each for each in reversed(expected[:position]) if each in order), None)
        order.insert(order.index(before) + 1 if before is not None else 0, key)
    return order


def _missing_imports(model: Collection[Import], expected: Collection[Import]) -> str:
    """Imports that pieces of the reference may need; a name that the answer imports itself stays the answer's."""
    bound = {each.alias for each in model}
    return "\n".join(_import(each) for each in expected if each.alias not in bound)


def _import(each: Import) -> str:
    kind = "import type" if each.is_type else "import"
    if each.name == "*":
        return f'{kind} * as {each.alias} from "{each.source}";'
    if each.name == "default":
        return f'{kind} {each.alias} from "{each.source}";'
    name = each.name if each.name == each.alias else f"{each.name} as {each.alias}"
    return f'{kind} {{ {name} }} from "{each.source}";'


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


SCHEMA: Final = "convex/schema.ts"
_INDEX: Final = re.compile(r"\.(?:index|searchIndex|vectorIndex)\(\s*[\"'](\w+)[\"']")
_EXPORTED: Final = re.compile(r"^export\b", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_INDIFFERENT: Final = frozenset({"README.md", "package-lock.json", "tsconfig.json", "bun.lock", "bun.lockb"})


def is_exported(patch: Patch) -> bool:
    """Or otherwise more than a piece that other pieces of its file use."""
    if patch.model is not None or patch.expected is None or patch.key == WHOLE:
        return True
    return _EXPORTED.search(patch.expected.text) is not None


def needs(patch: Patch, other: Patch, imports: Collection[Import]) -> bool:
    """Whether code of `patch` uses what `other` adds: a declaration of its file, or of a file it imports."""
    if other.model is not None or patch.expected is None:
        return False
    words = set(_WORD.findall(patch.expected.text))
    if other.file == patch.file:
        return bool(words.intersection(other.key.split(", ")))
    for each in imports:
        if each.alias in words and _target(patch.file, each.source) == _stem(other.file):
            return other.key in (WHOLE, each.name)
    return False


def needs_index(patch: Patch, other: Patch, model: Mapping[str, str]) -> bool:
    """Whether code of `patch` names an index that only the schema of the reference has."""
    if other.file != SCHEMA or patch.file == SCHEMA or other.expected is None or patch.expected is None:
        return False
    added = set(_INDEX.findall(other.expected.text)) - set(_INDEX.findall(model.get(SCHEMA, "")))
    return any(f'"{name}"' in patch.expected.text for name in added)


def is_indifferent(path: str, model: Mapping[str, str], expected: Mapping[str, str]) -> bool:
    """What has no effect on a verdict: a README, a lock, a name in package.json, a tsconfig that is assumed anyway."""
    name = PurePosixPath(path).name
    if name == "package.json" and path in model and path in expected:
        return bool(_dependencies(model[path]) == _dependencies(expected[path]))
    return name in _INDIFFERENT and path not in model


def _dependencies(text: str) -> Any:
    try:
        content = json.loads(text)
    except ValueError:
        return text
    if not isinstance(content, dict):
        return text
    return content.get("dependencies"), content.get("devDependencies"), content.get("type")


def _target(file: str, source: str) -> str:
    if not source.startswith("."):
        return source
    return _stem(normpath(f"{PurePosixPath(file).parent.as_posix()}/{source}"))


def _stem(path: str) -> str:
    return re.sub(r"\.[cm]?[jt]sx?$", "", path)
