"""Failures that we knew would come, or that our own tools do not explain."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.reference import same_code
from convex_evals.analysis.classification.rules.rule import complaint, first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.wording import listed, shortened

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
