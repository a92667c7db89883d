"""GAPS.txt matched to a failure by cause: the same API, function kind, rule or effect, on the same side of it."""

import re
from dataclasses import dataclass
from typing import Final

from convex_evals.analysis.evidence import Evidence, GapMatch
from convex_evals.analysis.gaps.concepts import differing_concepts, find_concepts
from convex_evals.analysis.gaps.entries import Gap, read_gaps
from convex_evals.analysis.lint import is_rule
from convex_evals.analysis.task import Task, mentions, read_task
from convex_evals.analysis.terms import Terms, code_terms, identifiers, stem, words_of

LEAST: Final = 0.4
"""The share of an entry's terms that a failure must have."""
LEAST_CERTAIN: Final = 0.25
"""The share that is enough if it includes a name that only this cause has."""
MOSTLY: Final = 0.75  # of the words of an entry in one sentence of the task: that sentence says it
SURROUNDED: Final = 3  # lines of code from which on some of them are only the surroundings
PARTLY: Final = 0.5  # the same, of an entry that says what models do not manage, and often why
_CODE: Final = 2.0
_TASKS_OWN: Final = 0.5  # the part of a term's weight that is left when the whole task is about it
_SURROUNDING: Final = 0.5  # the part that counts of a term which both sides have
_ORDINARY: Final = frozenset({"any", "array", "boolean", "null", "number", "object", "string", "type", "undefined"})
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
_FILE: Final = re.compile(r"/|\.(?:tsx?|jsx?|json)$")
_WRITTEN_OUT: Final = re.compile(r"\{[^\n]{80,}\}")
_TREES: Final = frozenset({"api", "internal"})
_ROOTS: Final = frozenset({"api", "args", "ctx", "db", "internal", "q", "this", "v"})
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
    coded: bool = False  # the two sides are code, and nothing else
    concepts: frozenset[str] = frozenset()  # in which the sides differ, or of which the failed step speaks

    @property
    def all(self) -> frozenset[str]:
        return self.model | self.expected | self.said | self.rules

    @property
    def telling(self) -> frozenset[str]:
        """Without what both sides have and nobody speaks of, which is where it happened and not what; unless they
        differ in nothing that has a name."""
        differing = self.model ^ self.expected
        named = {term.rpartition(".")[2] for term in differing} - _ORDINARY
        return differing | self.said | self.rules if named else self.all


def match_gap(evidence: Evidence, rule: str | None = None) -> GapMatch | None:
    """The entry that speaks of the cause; of one complaint only, when `rule` names it."""
    task, sides = read_task(evidence.task), failure_sides(evidence, rule)
    found = [
        match
        for entry in read_gaps(evidence.gaps)
        if entry.explains_failures and (match := _match(entry, sides, task)) is not None
    ]
    return max(found, key=lambda match: (not match.demanded, match.score), default=None)


def closest_gap(evidence: Evidence) -> float:
    """How much of the closest entry the failure has, whether that is enough or not: from 0 to 1."""
    task, sides = read_task(evidence.task), failure_sides(evidence)
    entries = [entry for entry in read_gaps(evidence.gaps) if entry.explains_failures]
    shares = (max(_share(each.terms, sides, task).score, _conceptual(each, sides, task).score) for each in entries)
    return max(shares, default=0.0)


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
    concepts = differing_concepts(model, expected) | find_concepts(_said(evidence, rule)).keys()
    return Sides(own, theirs, said, _quoted(text), rules, f"{snippet}\n{expected}\n{text}", coded, concepts)


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


def _match(entry: Gap, sides: Sides, task: Task) -> GapMatch | None:
    whole = _share(entry.terms, sides, task)
    wanted = _share(entry.wants, Sides(frozenset(), sides.expected, frozenset()), task)
    best = max(whole, wanted, _conceptual(entry, sides, task), key=lambda share: (share.is_enough, share.score))
    if not best.is_enough or _contradicts(entry, sides):
        return None
    if entry.symbols and not any(each in sides.text for each in entry.symbols):
        return None
    if not best.certain and best.score < MOSTLY and _names_others(entry, sides):
        return None
    if entry.concepts and not entry.concepts & sides.concepts and not _names(entry, best):
        return None
    return GapMatch(
        entry.text,
        tuple(sorted(best.terms)),
        round(best.score, 2),
        blames=entry.blames,
        resolved=entry.resolved,
        demanded=_is_demanded(entry, task),
        excused=entry.excused,
        certain=best.certain,
    )


@dataclass(frozen=True, slots=True)
class Share:
    """What an entry and a failure have in common, and what part of the entry that is."""

    terms: tuple[str, ...] = ()
    score: float = 0.0
    certain: bool = False  # among them is code of which the task does not speak
    shared: float = 0.0  # the weight of what they have in common
    missing: float = 0.0  # and of the rest of the entry

    @property
    def is_enough(self) -> bool:
        return (self.certain and self.score >= LEAST_CERTAIN) or (len(self.terms) > 1 and self.score >= LEAST)


def _share(terms: Terms, sides: Sides, task: Task) -> Share:
    weights = {term: _weight(term, task, code=True) for term in terms.code}
    weights |= {term: _weight(term, task, code=term in sides.quoted) for term in terms.words}
    shared = tuple(term for term in weights if _is_in(term, sides.all))
    telling = {term for term in shared if _is_in(term, sides.telling)}
    common = sum(weights[term] * (1 if term in telling else _SURROUNDING) for term in shared)
    total = sum(weights.values())
    score = common / (total or 1)
    certain = any(weights[term] == _CODE or stem(term) in sides.quoted for term in telling)
    if any(_is_broken(term, sides) for term in weights):
        return Share(
            shared or tuple(terms.code), max(score, LEAST), True, common, total - common
        )  # the rule is the cause, whatever else is said about it
    if (
        len(weights) == len(shared) == 1
    ):  # all that is said is a name: it must be what the answer has and the reference has not
        certain = certain or (shared[0] in sides.model and shared[0] not in sides.expected and bool(sides.expected))
    return Share(shared, score, certain, common, total - common)


def _conceptual(entry: Gap, sides: Sides, task: Task) -> Share:
    """What they have in common if a concept stands for the words that name it."""
    shared = entry.concepts & sides.concepts
    if not shared:
        return Share()
    besides = _share(entry.besides, sides, task)
    weight = _CODE * (_TASKS_OWN if find_concepts(task.text).keys() & shared else 1)
    common = weight * len(shared) + besides.shared
    score = common / (common + len(entry.concepts - shared) + besides.missing)
    return Share((*sorted(shared), *besides.terms), score, certain=weight == _CODE and score >= LEAST)


def _is_broken(term: str, sides: Sides) -> bool:
    """Whether it is the name of a rule that was broken, or of its family: no-unsafe for no-unsafe-return."""
    name = term.rpartition("/")[2]
    return any(rule == name or ("-" in name and rule.startswith(f"{name}-")) for rule in sides.rules)


def _is_in(term: str, found: frozenset[str]) -> bool:
    """As it is; of several words, all of them; of a chain, its members; of a path, a file below or above it."""
    if term in found:
        return True
    if " " in term:
        return words_of(term) <= found
    if "/" in term:
        return any(term in each for each in found if "/" in each)
    root, *_ = term.split(".")
    if root in _TREES and root not in found:  # `api.x` is not `internal.x`
        return False
    members = [each for each in term.split(".") if each not in _ROOTS]
    return "." in term and bool(members) and len(members[-1]) > 3 and all(each in found for each in members)


def _weight(term: str, task: Task, *, code: bool) -> float:
    full = _CODE if code else 1.0
    known = mentions(task.text, term) if code else task.speaks_of(term) is not None
    return full * _TASKS_OWN if known else full


def _contradicts(entry: Gap, sides: Sides) -> bool:
    """The entry names another lint rule; or says that answers lack something, and this one has it where the reference
    does not; or the reverse."""
    named = [term for term in entry.does.code if is_rule(term.rpartition("/")[2])]
    if named and sides.rules and not any(_is_broken(term, sides) for term in named):
        return True
    about = entry.lacks.code or entry.lacks.words or entry.does.code or entry.does.words
    only_model, only_expected = about & (sides.model - sides.expected), about & (sides.expected - sides.model)
    if about & sides.said:
        return False
    own = (entry.does.code - entry.lacks.code) & sides.model
    if entry.lacks and own - sides.expected:  # what it says that they do is what this one does
        return False
    if entry.lacks:
        return bool(only_model) and not only_expected and bool(sides.expected)
    return bool(only_expected) and not only_model and (bool(sides.model) or sides.coded)


def _names_others(entry: Gap, sides: Sides) -> bool:
    """The entry names code, and the failure has none of it: what words they share is by chance."""
    named = entry.terms.code - _ORDINARY
    return bool(named) and not entry.concepts & sides.concepts and not any(_is_in(term, sides.all) for term in named)


def _names(entry: Gap, share: Share) -> bool:
    """Whether they share more than words and the file in which it happened."""
    return any(term in share.terms and _FILE.search(term) is None for term in entry.terms.code)


def _is_demanded(entry: Gap, task: Task) -> bool:
    """The entry says only that models do not manage something, and the task plainly requires it."""
    right = entry.wants or (entry.does if entry.lacks or entry.unable else None)
    if entry.blames != "model" or not right:
        return False
    if right.code:
        return task.demands(*right.code) is not None
    if entry.wants and entry.does and not any(task.demands(each, *entry.wants.words) for each in entry.does.words):
        return False  # the task speaks of the right thing elsewhere
    enough = PARTLY if entry.unable and not entry.lacks and not entry.wants else MOSTLY
    most = [
        sum(each.speaks_of((word,)) for word in right.words) for each in task.instructions if each.polarity == "must"
    ]
    return max(most, default=0) >= enough * len(right.words)


def _quoted(text: str) -> frozenset[str]:
    """Names that a tool quotes are what it complains about."""
    names = (single or double for single, double in re.findall(r"'([A-Za-z]\w+)'|\"([A-Za-z]\w+)\"", text))
    return frozenset(stem(name.lower()) for name in names if name.lower() not in _ORDINARY)


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
