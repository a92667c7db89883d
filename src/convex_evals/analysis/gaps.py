"""GAPS.txt matched to a failure: which passage, if any, speaks of what went wrong."""

import re
from typing import Final

from convex_evals.analysis.evidence import Evidence, GapMatch

CODE_WEIGHT: Final = 0.35
WORD_WEIGHT: Final = 0.1
COVERAGE_WEIGHT: Final = 0.4  # for a passage that speaks of nothing else
_CODE: Final = re.compile(
    r"`([^`]+)`|\"([^\"\n]{2,40})\"|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+\d*[A-Z]\w*|\w+_\w+|\w+\.\w+\(?|[a-z]+(?:-[a-z]+)+|TS\d{4}|/\w+/\S*|\w+/\w+)"
)
_WORD: Final = re.compile(r"[a-z]{4,}")
_ENDING: Final = re.compile(r"(?:ings?|ed|es|s)$")
# Words that say nothing about what a passage is about.
_EVERYWHERE: Final = frozenset(
    re.findall(
        r"\w+",
        """about after also another answer answers because been before being called cannot check checked code convex
        could does each eval evals every example fail failed failing fails file files find from function functions given
        grader have into itself least like made make means model models must only other others over same should since
        some task tasks test tests than that their them then there these they this those though through used uses using
        value values what when where whether which while will with without work works would write writes written""",
    )
)


def match_gap(evidence: Evidence) -> GapMatch | None:
    """The passage that shares most with the failure; None when there is no GAPS.txt or nothing is shared."""
    code, words = _failure_terms(evidence)
    matches = [_match(passage, code, words) for passage in passages(evidence.gaps)]
    best = max(matches, key=lambda match: match.score, default=None)
    return best if best is not None and best.score > 0 else None


def passages(gaps: str) -> list[str]:
    """Paragraphs and list items: a gap is described in a few sentences that belong together."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)", gaps)
    return [passage for block in blocks if (passage := " ".join(block.split()))]


def _match(passage: str, code: set[str], words: set[str]) -> GapMatch:
    own_code, own_words = _code_terms(passage), _words(passage)
    shared_code = sorted(own_code & code)
    shared_words = sorted((own_words & words) - {stem for term in shared_code for stem in _words(term)})
    shared = len(shared_code) + len(shared_words)
    coverage = COVERAGE_WEIGHT * shared / max(len(own_code) + len(own_words), 1)
    score = min(1.0, CODE_WEIGHT * len(shared_code) + WORD_WEIGHT * len(shared_words) + coverage)
    return GapMatch(passage, (*shared_code, *shared_words), round(score, 2))


def _failure_terms(evidence: Evidence) -> tuple[set[str], set[str]]:
    """What the complaints and the cause are about, as code and as words; without what the whole task is about."""
    said = [evidence.error]
    for each in evidence.failed_diagnostics[:10]:
        said += [each.message, each.name or "", each.assertion or ""]
    changed = _changed(evidence)
    text = "\n".join(said)
    named = {symbol.name.lower() for symbol in evidence.unknown_symbols}
    code, words = _code_terms(text) | _code_terms(changed) | named, _words(text) | _words(changed)
    return code - _code_terms(evidence.task), words - _words(evidence.task)


def _changed(evidence: Evidence) -> str:
    """Tokens that only one side of the cause has; all of them when both sides are the same."""
    token = re.compile(r"\"[^\"\n]*\"|[\w./@-]+")
    model = token.findall(evidence.cause.model_snippet)
    expected = token.findall(evidence.cause.expected_snippet)
    return " ".join(sorted(set(model) ^ set(expected) or set(model)))


def _code_terms(text: str) -> set[str]:
    matches = _CODE.findall(text)
    found = {(ticked or quoted or plain).lower().rstrip("(") for ticked, quoted, plain in matches}
    for ticked, _, _ in matches:
        found |= _code_terms(ticked) if ticked else set()
    return {term for term in found if len(term) > 2} - _EVERYWHERE


def _words(text: str) -> set[str]:
    spread = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    return {_ENDING.sub("", word) for word in _WORD.findall(spread.lower()) if word not in _EVERYWHERE}
