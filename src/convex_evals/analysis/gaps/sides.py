"""A failure as two sides: what the answer has, what the reference has, and what the failed step says about it."""

import re
from dataclasses import dataclass
from typing import Final

from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.gaps.concepts import (
    Kind,
    concepts_of_one_side,
    differing_concepts,
    find_concepts,
    kinds_of,
    used_in,
)
from convex_evals.analysis.terms import code_terms, identifiers, stem, words_of

SURROUNDED: Final = 3  # lines of code from which on some of them are only the surroundings
ORDINARY: Final = frozenset({"any", "array", "boolean", "null", "number", "object", "string", "type", "undefined"})
_DENIED: Final = re.compile(
    r"\b(?:no|not|without|missing|lacks?|omits?|omitted)\b(?:(?!\.\s|[;,\n]).)*"
    r"|`[^`]+` (?:(?:is|are|was|were) )?(?:missing|absent|omitted|forgotten|left out)\b",
    re.I,
)
_TYPE_ERROR: Final = re.compile(
    r"\bTS\d{4}\b|\bimplicitly has\b|\bnot assignable\b|\bno exported member\b|\btype (?:errors?|mismatch)\b"
    r"|\bTypeScript errors?\b",
    re.I,
)
_EFFECTS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (_TYPE_ERROR, "type typing"),
    (
        re.compile(r"\bimplicitly has\b|\b(?:no exported member|Cannot find name) '(?-i:[A-Z])|\bsignatures?\b", re.I),
        "type declaration annotation",
    ),
    (re.compile(r"\bTS702[234]\b|its own initializer|references itself", re.I), "type cycle circular annotation"),
    (re.compile(r"\beslint|\blint\b", re.I), "lint eslint"),
    (re.compile(r"\bvalidat(?:or|ion)|Object contains extra field|missing the required field", re.I), "validator"),
)
_PLACE: Final = re.compile(
    r"^// [\w./-]+\.(?:tsx?|jsx?)(?::\d+)?$|^// …$", re.MULTILINE
)  # where a piece of code is from
_PATH: Final = re.compile(r"(?:[\w.-]+/)+[\w.-]+\.(?:tsx?|jsx?)(?:[:(]\d+)+")
_NAMED: Final = re.compile(r"(['\"`])\w+\1")
_WRITTEN_OUT: Final = re.compile(r"\{[^\n]{80,}\}")
# What a piece of code does, in the words that an entry would use for it.
_CONSTRUCTS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?<=[{\[(,\s])\.\.\.[a-z]\w*(?=[\s,.}\])])"), "spread existing"),
    (re.compile(r"\{\s*(?!args|returns)\w+:\s*\{"), "nested object"),
    (re.compile(r"[\"'][a-z]\w*(?:\.[a-z]\w*)+[\"']"), "dotted path"),
    (re.compile(r":\s*any\b|\bas any\b"), "type declaration"),
)


@dataclass(frozen=True, slots=True)
class Sides:
    """What the failure is about, on the model's side, on the reference's, and in the words of the failed step."""

    model: frozenset[str]
    expected: frozenset[str]
    said: frozenset[str]
    quoted: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()  # that the linter names

    text: str = ""  # all of it, as it is written
    answer: str = ""  # the model's side of it
    coded: bool = False  # the two sides are code, and nothing else
    absent: bool = False  # of the model's side only what is missing is known
    concepts: frozenset[str] = frozenset()  # in which the sides differ, or of which the failed step speaks
    boasted: frozenset[str] = frozenset()  # those that only the answer shows
    complained: frozenset[str] = frozenset()  # those of which the failed step speaks, whatever names it quotes
    kinds: frozenset[Kind] = frozenset()  # of the functions in which it happens
    misplaced: frozenset[str] = frozenset()  # what is used in a kind of function where the reference does not use it
    modules: frozenset[str] = frozenset()  # that were not found, if that is all the failed step says
    wanted: str = ""  # the values that a test compared
    received: str = ""

    @property
    def all(self) -> frozenset[str]:
        return self.model | self.expected | self.said | self.rules

    @property
    def telling(self) -> frozenset[str]:
        """Without what both sides have and nobody speaks of, which is where it happened and not what; unless they
        differ in nothing that has a name."""
        differing = self.model ^ self.expected
        named = {term.rpartition(".")[2] for term in differing} - ORDINARY
        return differing | self.said | self.rules if named else self.all


def failure_sides(evidence: Evidence, rule: str | None = None) -> Sides:
    snippet, expected = (
        _PLACE.sub("", text) for text in (evidence.cause.model_snippet, evidence.cause.expected_snippet)
    )
    denied = "" if "\n" in snippet.strip() else " ".join(_DENIED.findall(snippet))
    model = snippet if not denied else _DENIED.sub(" ", snippet)
    text = f"{denied}\n{_said(evidence, rule)}"
    named = " ".join(symbol.name for symbol in evidence.unknown_symbols)
    own, theirs = _all(f"{model}\n{named}") | _constructs(model), _all(expected) | _constructs(expected)
    # An answer may have nothing in the place of a passage.
    coded = evidence.cause.found != "stated" or (
        _is_passage(expected) and (not snippet.strip() or _is_passage(snippet))
    )
    if coded:  # what both sides have is only the surroundings
        own, theirs = own - theirs, theirs - own
    broken = (each.name for each in evidence.failed_diagnostics if each.step == "eslint" and each.name)
    rules = frozenset(name.rpartition("/")[2] for name in broken if rule in (None, name))
    said = _all(text) | _joined(text) | words_of(_effects(evidence, text))
    complaint = _UNTELLING.sub("", _said(evidence, rule))
    reference = "\n".join(evidence.answer.values())
    differing = differing_concepts(model, expected) if expected.strip() else concepts_of_one_side(model, reference)
    return Sides(
        own,
        theirs,
        said,
        _quoted(text),
        rules,
        f"{snippet}\n{expected}\n{text}",
        model,
        coded,
        absent=bool(denied) and not own,
        concepts=differing | frozenset(find_concepts(complaint)),
        boasted=frozenset(find_concepts(model)) - frozenset(find_concepts(f"{expected}\n{text}")),
        complained=frozenset(find_concepts(_NAMED.sub(" ", complaint))),
        kinds=kinds_of(f"{model}\n{text}"),
        misplaced=used_in(f"{model}\n{text}") - used_in(expected),
        modules=_missing_modules(evidence),
        wanted=next((each.expected for each in evidence.failed_diagnostics if each.expected), ""),
        received=next((each.received for each in evidence.failed_diagnostics if each.received), ""),
    )


_UNTELLING: Final = re.compile(
    r" or its corresponding type declarations|TypeScript typecheck via `tsc` failed"
    r"|\d+ ?% (?:of (?:the )?tests )?passed"
)
_MODULE: Final = re.compile(
    r"(?:Could not resolve|Cannot find (?:module|package)|Failed to resolve import|Module not found:?) "
    r"[\"'](?P<path>[^\"'\n]+)[\"']"
)
_OTHER_ERROR: Final = re.compile(r"\bTS(?!2307\b)\d{4}\b")


def _missing_modules(evidence: Evidence) -> frozenset[str]:
    """The names of the packages, without Node's prefix; nothing if something else is wrong as well."""
    found = [_MODULE.findall(each.message) for each in evidence.failed_diagnostics]
    if not found or not all(found) or _OTHER_ERROR.search(evidence.error):
        return frozenset()
    paths = [path.removeprefix("node:") for each in found for path in each]
    return frozenset(name for path in paths for name in (path, _package(path)) if len(name) > 2)


def _package(path: str) -> str:
    """Or the file, if it is one of the project."""
    return path.rpartition("/")[2] if path.startswith(".") else "/".join(path.split("/")[: 1 + path.startswith("@")])


_STATEMENT: Final = re.compile(r"=>|[;{]\s*$|\);?\s*$|^\s*(?:import|export|const|await|return|if) \S", re.M)


def _is_passage(snippet: str) -> bool:
    """Whether what somebody wrote down is lines of code: not a description of them, nor only the line that matters."""
    several = len(snippet.strip().splitlines()) >= SURROUNDED
    return several and "`" not in snippet and _STATEMENT.search(snippet) is not None


def _said(evidence: Evidence, rule: str | None) -> str:
    """What the failed step said, without the grader's own code, paths, and types that are written out in full."""
    complaints = [each for each in evidence.failed_diagnostics if rule is None or each.name == rule][:10]
    texts = [text for each in complaints for text in (each.message, each.name or "")]
    if rule is not None or evidence.steps:  # it was graded: everything is in the diagnostics
        return _PATH.sub(" ", _WRITTEN_OUT.sub("{}", "\n".join([rule or "", *texts])))
    return "\n".join([evidence.error, *texts])


def _effects(evidence: Evidence, text: str) -> str:
    """What kind of trouble it is, in the words that an entry would use for it."""
    kinds = {"tsc": "TS0000", "eslint": "eslint"}
    found = [words for pattern, words in _EFFECTS if pattern.search(f"{text} {kinds.get(evidence.failed_step)}")]
    silent = not any(each.place or each.name or each.expected for each in evidence.failed_diagnostics)
    return " ".join([*found, *(["message reason details"] if silent and not evidence.cause.model_snippet else [])])


def _quoted(text: str) -> frozenset[str]:
    """Names that a tool quotes are what it complains about, except that of the table in `Id<"table">`."""
    names = (single or double for single, double in re.findall(r"'([A-Za-z]\w+)'|(?<!<)\"([A-Za-z]\w+)\"", text))
    return frozenset(stem(name.lower()) for name in names if name.lower() not in ORDINARY)


def _constructs(code: str) -> frozenset[str]:
    return words_of(" ".join(words for pattern, words in _CONSTRUCTS if pattern.search(code)))


def _joined(text: str) -> frozenset[str]:
    """Names that are written as words: "day of week" for dayOfWeek."""
    words = re.findall(r"[a-z]+", text.lower())
    return frozenset("".join(words[at : at + size]) for size in (2, 3) for at in range(len(words) - size + 1))


def _all(text: str) -> frozenset[str]:
    """Code, the beginnings of what is joined by dots, words and names."""
    code = code_terms(text)
    joined = {".".join(parts[:end]) for term in code for parts in (term.split("."),) for end in range(2, len(parts))}
    return code | joined | words_of(text) | identifiers(text)
