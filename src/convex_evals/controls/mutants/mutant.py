"""Mutants: wrong answers made from a right one, each by one small change."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Final

from ast_grep_py import SgNode, SgRoot

from convex_evals.controls.mutants.operators import OPERATORS
from convex_evals.controls.mutants.syntax import Difference, apply_edits, difference

LANGUAGES: Final = {".ts": "typescript", ".tsx": "tsx", ".js": "javascript", ".jsx": "jsx", ".mjs": "javascript"}
ID_LENGTH: Final = 8
_NOT_MUTATED: Final = re.compile(r"\.(config|test|spec)\.|\.d\.ts$")  # settings, tests and declarations


@dataclass(frozen=True, slots=True)
class Mutant:
    """`id` stays the same as long as the changed lines, and the names of operator and file, do."""

    id: str
    operator: str
    path: str
    difference: Difference
    text: str

    def applied(self, answer: Mapping[str, str]) -> dict[str, str]:
        """The files of the answer with this one changed."""
        return {**answer, self.path: self.text}


def generate_mutants(answer: Mapping[str, str]) -> tuple[Mutant, ...]:
    """Every mutant of an answer, no two alike, in the order of operators, files and places."""
    texts: set[tuple[str, str]] = set(answer.items())
    seen: Counter[str] = Counter()
    mutants: list[Mutant] = []
    modules = tuple(_modules(answer))
    for operator in OPERATORS:
        for path, text, root in modules:
            for mutated in (apply_edits(text, change) for change in operator.changes(root)):
                if (path, mutated) not in texts:
                    texts.add((path, mutated))
                    mutants.append(_mutant(operator.name, path, text, mutated, seen))
    return tuple(mutants)


def select_mutants(mutants: Sequence[Mutant], most: int) -> tuple[Mutant, ...]:
    """At most `most`: operators take turns, and what they give is spread over the answer."""
    by_operator: defaultdict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_operator[mutant.operator].append(mutant)
    ordered = (sorted(group, key=lambda mutant: mutant.id) for group in by_operator.values())
    turns = (mutant for turn in zip_longest(*ordered) for mutant in turn if mutant is not None)
    chosen = {mutant.id for mutant, _ in zip(turns, range(most), strict=False)}
    return tuple(mutant for mutant in mutants if mutant.id in chosen)


def _modules(answer: Mapping[str, str]) -> Iterator[tuple[str, str, SgNode]]:
    for path, text in sorted(answer.items()):
        language = LANGUAGES.get(PurePosixPath(path).suffix)
        if language is not None and not _NOT_MUTATED.search(path):
            yield path, text, SgRoot(text, language).root()


def _mutant(operator: str, path: str, text: str, mutated: str, seen: Counter[str]) -> Mutant:
    found = difference(text, mutated)
    content = "\n".join((operator, path, *(line.strip() for line in found.lines)))
    seen[content] += 1
    digest = hashlib.sha256(f"{content}\n{seen[content]}".encode()).hexdigest()
    return Mutant(digest[:ID_LENGTH], operator, path, found, mutated)
