"""The model's mistakes: APIs that do not exist, what the compiler and the linter found, wrong behaviour."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words, outcome, title
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed, shortened


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
        (f"{symbol.file}:{symbol.line}" if symbol.file else str(symbol), *first_words(evidence)),
        "invented_api",
    )


# Names and packages of types that a project has or has not, whatever code is in it.
_ENVIRONMENT: Final = re.compile(
    r"Cannot find name '(?:process|Buffer|console|require|module|__dirname|fetch|Response|Request|setTimeout|Blob)'"
    r"|Cannot find type definition file for|Could not find a declaration file for module"
    r"|Option '[\w.]+' (?:is deprecated|has been removed|cannot be specified)|File '[^']*lib\.[\w.]+\.d\.ts' not found",
)


def types_of_the_environment(evidence: Evidence) -> Classification | None:
    """Every type error is about what the project is set up with, not about the code."""
    errors = evidence.failed_diagnostics
    if evidence.failed_step not in ("tsc", "deploy") or not errors:
        return None
    if not all(_ENVIRONMENT.search(each.message) for each in errors):
        return None
    return Classification(
        "OVERLY_STRICT",
        0.7,
        f"The types around the code are missing, not right code: {shortened(errors[0].message)}",
        f"All the compiler complains about is the set-up of the project ({shortened(errors[0].message, 200)}). "
        f"The code itself runs; the check demands types that the task did not ask to install.",
        first_words(evidence),
        "types_of_the_environment",
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
        f"The {tool} reports {listed(names) or 'a mistake'}: {shortened(first.message)}",
        f"The {tool} found {len(evidence.failed_diagnostics)} mistakes ({listed(names)}), the first at "
        f"{first.place or 'an unknown place'}.{tests}",
        first_words(evidence),
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
    said = f" The task says it: {listed(stated[:4])}." if stated else ""
    return Classification(
        "MODEL_FAULT",
        0.8 if stated else 0.6,
        f"{title(test)}: {outcome(test)}",
        f"The test {test.name or 'that failed'} ran the answer and found that it does not do what is asked: "
        f"{outcome(test)}.{said}",
        first_words(evidence),
        "wrong_behaviour",
    )


def whatever_else(evidence: Evidence) -> Classification:
    """What a step refuses is the answer's, unless something says otherwise."""
    said = complaint(evidence)
    return Classification(
        "MODEL_FAULT",
        0.6 if evidence.error or evidence.failed_diagnostics else 0.4,
        f"The step {evidence.failed_step} refused the answer: {said}",
        f"The step {evidence.failed_step} failed and said: {said}. "
        f"Nothing in the evidence points at the task, the grader or a documented gap.",
        first_words(evidence),
        "whatever_else",
    )
