"""Answers that cannot be wrong if the reference is right."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence

# Where a person wrote the snippets down, a remark may stand for the code.
_SAID_TO_BE_SAME: Final = re.compile(
    r"\s*(?:the )?(?:same|identical|(?:semantically |functionally )?equivalent)\b(?![^\n]*[{;]\s*$)", re.IGNORECASE
)


def same_as_reference(evidence: Evidence) -> Classification | None:
    """Where it failed, the answer is the reference's own code."""
    if evidence.failed_step == "deploy" or not same_code(evidence):
        return None
    return Classification(
        "OVERLY_STRICT",
        0.8,
        f"The code is the reference's own, and the step {evidence.failed_step} still fails.",
        f"The code that failed does not differ from the reference answer, apart from layout. "
        f"What the step {evidence.failed_step} insists on ({complaint(evidence)}) is therefore not about the answer.",
        first_words(evidence),
        "same_as_reference",
    )


def unstable_verdict(evidence: Evidence) -> Classification | None:
    """The very same files passed elsewhere."""
    same = evidence.counterfactuals.same_answer
    if same is None or not same.passed:
        return None
    return Classification(
        "OVERLY_STRICT",
        0.7,
        f"The very same files passed {same.passed} of {same.total} other times.",
        f"These files were graded {same.total} more times and passed {same.passed} of them. "
        f"A verdict that changes while the answer does not says nothing about the answer.",
        first_words(evidence),
        "unstable_verdict",
    )


def same_code(evidence: Evidence) -> bool:
    """Apart from layout and comments. Unknown code is never the same."""
    model, expected = plain(evidence.cause.model_snippet), plain(evidence.cause.expected_snippet)
    if model and expected:
        return model == expected or bool(_SAID_TO_BE_SAME.match(evidence.cause.expected_snippet))
    files = {path: plain(text) for path, text in evidence.files.items()}
    return bool(files) and files == {path: plain(text) for path, text in evidence.answer.items()}


def plain(code: str) -> str:
    """Code without comments, blanks and the marks that formatters add."""
    without = re.sub(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", "", code, flags=re.DOTALL)
    return re.sub(r"[\s;]+|,(?=\s*[)\]}])", "", without)
