"""GAPS.txt matched to a failure by cause: the same API, function kind, rule or effect, on the same side of it."""

import re
from dataclasses import dataclass, replace
from typing import Final

from convex_evals.analysis.evidence import Evidence, GapMatch
from convex_evals.analysis.gaps.concepts import find_concepts
from convex_evals.analysis.gaps.entries import Gap, read_gaps
from convex_evals.analysis.gaps.sides import ORDINARY, Sides, failure_sides
from convex_evals.analysis.lint import is_rule
from convex_evals.analysis.task import Task, mentions, read_task
from convex_evals.analysis.terms import Terms, stem, words_of

LEAST: Final = 0.4
"""The share of an entry's terms that a failure must have."""
LEAST_CERTAIN: Final = 0.25
"""The share that is enough if it includes a name that only this cause has."""
MOSTLY: Final = 0.75  # of the words of an entry in one sentence of the task: that sentence says it
PARTLY: Final = 0.5  # the same, of an entry that says what models do not manage, and often why
_CODE: Final = 2.0
_TASKS_OWN: Final = 0.5  # the part of a term's weight that is left when the whole task is about it
_SURROUNDING: Final = 0.5  # the part that counts of a term which both sides have
_EVERYDAY: Final = frozenset(
    {"collect", "db.get", "db.query", "delete", "first", "get", "insert", "map", "patch", "query"}
)
"""What nearly every answer calls says little about a cause."""
_FILE: Final = re.compile(r"/|\.(?:tsx?|jsx?|json)$")
_TREES: Final = frozenset({"api", "internal"})
_ROOTS: Final = frozenset({"api", "args", "ctx", "db", "internal", "q", "this", "v"})


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


def _match(entry: Gap, sides: Sides, task: Task) -> GapMatch | None:
    whole = _share(entry.terms, _without_reversed(entry, sides), task)
    wanted = _share(entry.wants, Sides(frozenset(), sides.expected, frozenset()), task)
    shares = (whole, wanted, _conceptual(entry, sides, task), _quoted_values(entry, sides))
    best = max(shares, key=lambda share: (share.is_enough, share.score))
    if not best.is_enough or _contradicts(entry, sides):
        return None
    if _happens_elsewhere(entry, sides) or _has_what_is_wanted(entry, sides) or _knows_it(entry, sides):
        return None
    if sides.modules and not _is_about_modules(entry, sides):
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


def _without_reversed(entry: Gap, sides: Sides) -> Sides:
    """Of "this instead of that", without "that" where only the answer has it, and "this" where only the reference."""
    if not entry.wants:
        return sides
    this, that = (each.code | each.words for each in (entry.does, entry.wants))
    return replace(
        sides,
        model=sides.model - ((that - this) - sides.expected),
        expected=sides.expected - ((this - that) - sides.model),
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
    met = entry.concepts & sides.concepts
    shared = (met - sides.boasted if entry.lacks else met) | (entry.used & sides.misplaced)
    if not shared:
        return Share()
    besides = _share(entry.besides, sides, task)
    weight = _CODE * (_TASKS_OWN if find_concepts(task.text).keys() & shared else 1)
    common = weight * len(shared) + besides.shared
    score = common / (common + len(entry.concepts - shared) + besides.missing)
    return Share((*sorted(shared), *besides.terms), score, certain=weight == _CODE and score >= LEAST)


def _quoted_values(entry: Gap, sides: Sides) -> Share:
    """The entry has the number that came, if it is not one that comes anywhere, or both that and the wanted one."""
    came, wanted = ({each for each in entry.numbers if _begins(each, text)} for text in (sides.received, sides.wanted))
    telling = {each for each in came if len(each) >= TELLING_DIGITS and "." in each}
    return Share((*sorted(came | wanted),), MOSTLY, certain=True) if telling or (came and wanted) else Share()


TELLING_DIGITS: Final = 5


def _begins(number: str, text: str) -> bool:
    """Whether the text is that number, or has more digits of it."""
    return text == number or ("." in number and text.startswith(number))


def _is_about_modules(entry: Gap, sides: Sides) -> bool:
    """Where only modules are missing: it names one of them, or speaks of imports and packages and of no other name."""
    if any(mentions(entry.text, name) for name in sides.modules):
        return True
    others = entry.terms.code - ORDINARY - {each for each in entry.terms.code if _is_in(each, sides.all)}
    return _MODULES.search(entry.text) is not None and not others


_MODULES: Final = re.compile(
    r"\bimport\w*|\bmodules?\b|\bpackages?\b|\bdependenc\w+|\binstall\w*|\btypings?\b|@?\btypes\b|\blibrar\w+|\bbundl\w+"
    r"|\bnode\b|\bruntime\b|\bpaths?\b|\bfiles?\b|\bgenerated\b",
    re.I,
)


def _knows_it(entry: Gap, sides: Sides) -> bool:
    """The entry says that models do not know something, and this answer has it."""
    named = entry.unknown - ORDINARY
    return bool(named) and all(mentions(sides.answer, term) for term in named) and not named & sides.quoted


def _is_broken(term: str, sides: Sides) -> bool:
    """Whether it is the name of a rule that was broken, or of its family: no-unsafe for no-unsafe-return."""
    name = term.rpartition("/")[2]
    return any(rule == name or ("-" in name and rule.startswith(f"{name}-")) for rule in sides.rules)


def _is_in(term: str, found: frozenset[str]) -> bool:
    """As it is; of several words, all of them; of a chain, its members; of a path, a file below or above it."""
    if term in found:
        return True
    if " " in term:
        return len(words_of(term)) > 1 and words_of(term) <= found
    if "/" in term:
        return any(term in each for each in found if "/" in each)
    root, *_ = term.split(".")
    if root in _TREES and root not in found:  # `api.x` is not `internal.x`
        return False
    members = [each for each in term.split(".") if each not in _ROOTS]
    return "." in term and bool(members) and len(members[-1]) > 3 and all(each in found for each in members)


def _weight(term: str, task: Task, *, code: bool) -> float:
    full = _CODE if code and term.removeprefix("ctx.") not in _EVERYDAY else 1.0
    known = mentions(task.text, term) if code else task.speaks_of(term) is not None
    return full * _TASKS_OWN if known else full


def _contradicts(entry: Gap, sides: Sides) -> bool:
    """The entry names another lint rule, or none where the linter complained; or it says that answers lack something,
    and this one has it where the reference does not; or the reverse."""
    if sides.rules and not any(_is_broken(term, sides) for term in entry.terms.code):
        named = any(is_rule(term.rpartition("/")[2]) for term in entry.does.code)
        if named or not _is_about_lint(entry, sides):
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
    return bool(only_expected) and not only_model and (bool(sides.model) or sides.coded or sides.absent)


_LINT: Final = re.compile(r"\b(?:es)?lint\w*|\brules?\b|\bstyle\b", re.I)


def _is_about_lint(entry: Gap, sides: Sides) -> bool:
    """It speaks of the linter, or of a kind of cause that the linter names."""
    return _LINT.search(entry.text) is not None or bool(entry.concepts & sides.complained)


def _happens_elsewhere(entry: Gap, sides: Sides) -> bool:
    """The entry is about something used in one kind of function, and the failure about another kind or other things."""
    return bool(entry.used and sides.kinds) and not entry.used & sides.misplaced


def _has_what_is_wanted(entry: Gap, sides: Sides) -> bool:
    """Of "this instead of that", the answer has that and not this."""
    that = entry.wants.code - entry.does.code
    has = bool(that) and all(mentions(sides.answer, term) for term in that)
    this = entry.does.code | entry.does.words
    others = {term for term in this - entry.wants.words - entry.wants.code if not any(term in each for each in that)}
    return has and not any(_is_in(term, sides.model - sides.expected) for term in others)


def _names_others(entry: Gap, sides: Sides) -> bool:
    """The entry names code, and the failure has none of it: what words they share is by chance."""
    named = entry.terms.code - ORDINARY
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
