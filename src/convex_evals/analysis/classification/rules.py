"""Rules over the evidence: each looks at one thing, and the first that applies decides."""

from collections.abc import Callable
from typing import Final

from convex_evals.analysis.classification.types import Classification, EngineName
from convex_evals.analysis.evidence import Diagnostic, Evidence

Rule = Callable[[Evidence], Classification | None]
LEAST_GAP: Final = 0.5
_LONGEST: Final = 160


class RulesEngine:
    name: EngineName = "rules"

    async def classify(self, evidence: Evidence) -> Classification:
        found = (classification for rule in RULES if (classification := rule(evidence)))
        return next(found, None) or whatever_else(evidence)


def documented_gap(evidence: Evidence) -> Classification | None:
    """GAPS.txt speaks of what went wrong."""
    gap = evidence.gap
    if gap is None or gap.score < LEAST_GAP:
        return None
    return Classification(
        "KNOWN_GAP",
        min(0.95, 0.5 + gap.score / 2),
        f"GAPS.txt already says so: {_short(gap.passage)}",
        f"GAPS.txt of this eval documents the weakness that this answer met: “{_short(gap.passage, 300)}” "
        f"It shares {_listed(gap.terms)} with the failure.",
        ("GAPS.txt", *_first_words(evidence)),
        "documented_gap",
    )


def invented_api(evidence: Evidence) -> Classification | None:
    """The answer uses something that the installed package does not have."""
    if not evidence.unknown_symbols:
        return None
    symbol = evidence.unknown_symbols[0]
    others = len(evidence.unknown_symbols) - 1
    more = f", and {others} more" if others else ""
    return Classification(
        "MODEL_FAULT",
        0.95,
        f"Uses an API that does not exist: {symbol}{more}.",
        f"The types of the installed convex package say that {symbol}{more}. "
        f"The step {evidence.failed_step} failed over code that cannot work in any project.",
        (f"{symbol.file}:{symbol.line}" if symbol.file else str(symbol), *_first_words(evidence)),
        "invented_api",
    )


def declarations_beyond_the_task(evidence: Evidence) -> Classification | None:
    """It behaves as it should, and fails over a declaration that the task does not ask for."""
    facts = evidence.counterfactuals
    if evidence.failed_step != "tests" or not facts.behaviour_passes or not facts.unstated:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.75,
        f"Behaves correctly; the grader compares declarations the task does not ask for: {_listed(facts.unstated)}.",
        f"Every test of behaviour passed, and only tests that compare declarations failed. "
        f"What they demand ({_listed(facts.unstated)}) is not in TASK.txt.",
        _first_words(evidence),
        "declarations_beyond_the_task",
    )


def broken_types_or_lint(evidence: Evidence) -> Classification | None:
    """The compiler or the linter has found a mistake."""
    if evidence.failed_step not in ("tsc", "eslint") or not evidence.failed_diagnostics:
        return None
    names = tuple(dict.fromkeys(each.name for each in evidence.failed_diagnostics if each.name))
    first = evidence.failed_diagnostics[0]
    tool = "compiler" if evidence.failed_step == "tsc" else "linter"
    tests = " Its tests pass, so it is the code that is careless, not the behaviour." * bool(
        evidence.counterfactuals.behaviour_passes
    )
    return Classification(
        "MODEL_FAULT",
        0.8,
        f"The {tool} reports {_listed(names)}: {_short(first.message)}",
        f"The {tool} found {len(evidence.failed_diagnostics)} mistakes ({_listed(names)}), the first at "
        f"{first.place or 'an unknown place'}.{tests}",
        _first_words(evidence),
        "broken_types_or_lint",
    )


def wrong_behaviour(evidence: Evidence) -> Classification | None:
    """A test of behaviour failed, over something the task says."""
    tests = evidence.failed_diagnostics if evidence.failed_step == "tests" else ()
    facts = evidence.counterfactuals
    if not tests or facts.behaviour_passes:
        return None
    test = tests[0]
    stated = [demand.text for demand in facts.demands if demand.stated]
    said = f" The task says it: {_listed(tuple(stated[:4]))}." if stated else ""
    return Classification(
        "MODEL_FAULT",
        0.8 if stated else 0.6,
        f"{_title(test)}: {_outcome(test)}",
        f"The test {test.name} ran the answer and found that it does not do what is asked: {_outcome(test)}.{said}",
        _first_words(evidence),
        "wrong_behaviour",
    )


def whatever_else(evidence: Evidence) -> Classification:
    """What a step refuses is the answer's, unless something says otherwise."""
    first = evidence.failed_diagnostics[0].message if evidence.failed_diagnostics else evidence.error
    said = _short(first) or "nothing that explains it"
    return Classification(
        "MODEL_FAULT",
        0.6 if first else 0.4,
        f"The step {evidence.failed_step} refused the answer: {said}",
        f"The step {evidence.failed_step} failed and said: {said}. "
        f"Nothing in the evidence points at the task, the grader or a documented gap.",
        _first_words(evidence),
        "whatever_else",
    )


RULES: Final[tuple[Rule, ...]] = (
    documented_gap,
    invented_api,
    declarations_beyond_the_task,
    broken_types_or_lint,
    wrong_behaviour,
)


def _title(test: Diagnostic) -> str:
    return (test.name or "a test").removeprefix("test_").replace("_", " ")


def _outcome(test: Diagnostic) -> str:
    if test.expected is not None and test.received is not None:
        return f"expected {_short(test.expected, 60)}, received {_short(test.received, 60)}"
    return _short(test.message)


def _first_words(evidence: Evidence) -> tuple[str, ...]:
    """What the failed step said first, with its place."""
    return tuple(f"{each.place} {each.name or ''}".strip() for each in evidence.failed_diagnostics[:3])


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")


def _short(text: str, longest: int = _LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
