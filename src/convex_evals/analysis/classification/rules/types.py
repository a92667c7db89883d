"""What the compiler and the linter found."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed, shortened

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
