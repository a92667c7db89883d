"""The difference between an answer and the reference as patches, and an answer with some of them applied."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from convex_evals.analysis.isolation.patch import Patch
from convex_evals.analysis.isolation.relations import is_exported, is_indifferent, needs, needs_index
from convex_evals.analysis.isolation.units import IMPORTS, SplitFile, Unit, same_text, split_file
from convex_evals.pipeline.grading.kit import Import


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
                yield Patch(path, "file", _whole(self.model.get(path)), _whole(self.expected.get(path)))
            return
        keys = dict.fromkeys([unit.key for unit in theirs.units] + [unit.key for unit in ours.units])
        for key in keys:
            model, expected = theirs.unit(key), ours.unit(key)
            if key == IMPORTS and set(theirs.imports) == set(ours.imports):
                continue
            if model is None or expected is None or not same_text(model.text, expected.text):
                yield Patch(path, key, model, expected)

    def _merged(self, path: str, chosen: Mapping[str, Patch], texts: Mapping[tuple[str, str], str]) -> str | None:
        if "file" in chosen:
            return self.expected.get(path)
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
    return None if text is None else Unit("file", text, 1)


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
