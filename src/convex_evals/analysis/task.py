"""TASK.txt read as instructions: what must be, what must not, what may, and what code is given word for word."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from convex_evals.analysis.terms import words_of

Polarity = Literal["must", "must not", "may"]
_BLOCK: Final = re.compile(r"```[^\n]*\n(?P<code>.*?)```", re.DOTALL)
_FORBIDS: Final = re.compile(
    r"\b(?:do(?:es)? not|don'?t|must not|mustn'?t|should not|shouldn'?t|never|avoid|without|no need to|nothing but)\b",
    re.I,
)
_PERMITS: Final = re.compile(
    r"\b(?:may|can|optional(?:ly)?|if you (?:like|want|need)|you need|feel free|not important|up to you|either)\b", re.I
)
_BLOCKS: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")
_DECLARES: Final = re.compile(r"\bfields?\b|\bschema\b", re.I)
_FILE: Final = re.compile(r"[\w@./-]*\w\.(?:tsx?|jsx?|json|mjs|css|html)\b")

_MORE: Final = re.compile(
    r"\b(?:other|more|additional|further|new|extra) files\b(?: (?:in|below) `?(?P<folder>[\w.-]+/[\w./-]*))?", re.I
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One sentence or list item."""

    text: str
    polarity: Polarity

    def speaks_of(self, terms: Collection[str]) -> bool:
        """Whether all of these are in it: code as it is written, words as stems."""
        own = words_of(self.text)
        return bool(terms) and all(term in own or mentions(self.text, term) for term in terms)


@dataclass(frozen=True)
class Task:
    text: str

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        prose = _BLOCK.sub("\n", self.text)
        parts = re.split(r"\n\s*(?:[-*•]|\w{1,2}[.)])\s|\n\s*\n|(?<=[.!?;])\s+|\n(?=\S)", prose)
        return tuple(Instruction(text, _polarity(text)) for part in parts if (text := " ".join(part.split())))

    @cached_property
    def given(self) -> str:
        """The code that the task spells out."""
        return "\n".join(found["code"] for found in _BLOCK.finditer(self.text))

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(_FILE.findall(self.text))

    @cached_property
    def behaviour(self) -> str:
        """Without the list items and paragraphs that declare tables and fields."""
        return "\n\n".join(each for each in _BLOCKS.split(self.text) if not _DECLARES.search(each))

    def about(self, names: Collection[str], others: Collection[str]) -> str:
        """Without the list items and paragraphs that are about `others` only."""
        blocks = _BLOCKS.split(self.text)
        return "\n\n".join(each for each in blocks if _any(each, names) or not _any(each, others))

    def demands(self, *terms: str) -> Instruction | None:
        """The instruction that requires something with all these terms in it."""
        return self._first(terms, "must")

    def forbids(self, *terms: str) -> Instruction | None:
        return self._first(terms, "must not")

    def speaks_of(self, *terms: str) -> Instruction | None:
        return next((each for each in self.instructions if each.speaks_of(terms)), None)

    def closest(self, title: str, names: Iterable[str]) -> Instruction | None:
        """The instruction that has the most words in common with the title; of several, the one with the most names."""
        words, named = words_of(title), words_of(" ".join(names))
        own = {each: words_of(each.text) for each in self.instructions}
        shared = {each: (len(words & own[each]), len(named & own[each])) for each in own}
        return max(shared, key=lambda each: shared[each]) if any(map(any, shared.values())) else None

    def asks_for_type(self, name: str) -> Instruction | None:
        """The instruction that itself uses `name` as a type: `: any`, `as any`, `<any>`."""
        used = re.compile(rf"(?::\s*|\bas (?:an )?|<|\|\s*|`){re.escape(name)}\b(?![\w\s]*\bfunction)")
        asked = (each for each in self.instructions if each.polarity == "must")
        return next((each for each in asked if used.search(each.text)), None)

    def asks_for_file(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(each.rpartition("/")[2] == name for each in self.files)

    def leaves_open(self, path: str) -> bool:
        """Whether it is up to the answer to have such a file: “Other files in `src/` are up to you.”"""
        open_ = (each.text for each in self.instructions if each.polarity == "may" and "may not" not in each.text)
        allowed = (found for text in open_ if (found := _MORE.search(text)))
        return any(path.startswith(found["folder"] or "") for found in allowed)

    def _first(self, terms: Iterable[str], polarity: Polarity) -> Instruction | None:
        wanted = tuple(terms)
        return next((each for each in self.instructions if each.polarity == polarity and each.speaks_of(wanted)), None)


def _any(text: str, names: Collection[str]) -> bool:
    return any(mentions(text, name) for name in names)


def mentions(text: str, term: str) -> bool:
    """Whether the term is in the text as it is written, whatever its case."""
    return re.search(rf"(?<![\w-]){re.escape(term)}(?![\w-])", text, re.IGNORECASE) is not None


@lru_cache(maxsize=256)
def read_task(text: str) -> Task:
    return Task(text)


def _polarity(text: str) -> Polarity:
    if _FORBIDS.search(text):
        return "must not"
    return "may" if _PERMITS.search(text) else "must"
