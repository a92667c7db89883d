"""Failures that are not about the answer: the same as the reference, unstable, known, or unexplained."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.rule import complaint, first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed, shortened

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


LEAST_GAP: Final = 0.5
FAINT_GAP: Final = 0.3  # enough where the answer is not to blame anyway
# What tools say when they say nothing: every word of such a complaint is one of these.
_SAYS_NOTHING: Final = frozenset(
    re.findall(
        r"\S+",
        """a an and any are as at be because but by cause code command convex could deploy deployed deployment details
    did didn due enough error exit exited failed failing failure failures for from function functions generic has
    insufficient is it its known log logged logs message missing module modules more no non not of on only or output
    pattern push pushed reason recurring see some status step the there this to truncated unable unclear unknown
    unspecified usable was were with without issues style typing typings""",
    )
)


def documented_gap(evidence: Evidence, least: float = LEAST_GAP) -> Classification | None:
    """GAPS.txt speaks of what went wrong."""
    gap = evidence.gap
    if gap is None or gap.score < least:
        return None
    return Classification(
        "KNOWN_GAP",
        min(0.95, 0.5 + gap.score / 2),
        f"GAPS.txt already says so: {shortened(gap.passage)}",
        f"GAPS.txt of this eval documents the weakness that this answer met: “{shortened(gap.passage, 300)}” "
        f"It shares {listed(gap.terms)} with the failure.",
        ("GAPS.txt", *first_words(evidence)),
        "documented_gap",
    )


def undocumented_failure(evidence: Evidence) -> Classification | None:
    """The step failed without a reason, for an answer that is as good as the reference, or where GAPS.txt warns."""
    if not says_nothing(evidence) or not (evidence.gaps or same_code(evidence)):
        return None
    known = "GAPS.txt knows of trouble with this eval" if evidence.gaps else "the answer does what the reference does"
    return Classification(
        "KNOWN_GAP",
        0.55,
        f"The step {evidence.failed_step} gives no reason, and {known}.",
        f"All that the step {evidence.failed_step} said is “{complaint(evidence)}”, which blames nothing in the code; "
        f"{known}. A failure that our own tools cannot explain is a gap of ours.",
        ("GAPS.txt",) if evidence.gaps else (),
        "undocumented_failure",
    )


def says_nothing(evidence: Evidence) -> bool:
    """Whether the failed step blames nothing in particular."""
    if any(each.place or each.expected for each in evidence.failed_diagnostics):
        return False
    words = re.findall(r"[a-z]+(?:-[a-z]+)*", evidence.error.lower())
    return all(word in _SAYS_NOTHING for word in words)
