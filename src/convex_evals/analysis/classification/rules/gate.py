"""The gate: failures about which no verdict is possible, because nobody saw the answer fail."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.opinion import Complaint, Opinion
from convex_evals.analysis.classification.rules.sameness import same_code
from convex_evals.analysis.evidence import Evidence

_NETWORK: Final = re.compile(
    r"\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|getaddrinfo"
    r"|socket hang up|fetch failed|network (?:error|is unreachable)|Bad Gateway|Service Unavailable"
    r"|Gateway Time-?out|rate limit(?:ed)?|too many requests)\b",
    re.I,
)
_GATEWAY: Final = re.compile(
    r"(?<![\w.])50[234](?![\w.])|\b(?:timed out|time-?out|unreachable|is down|no response)\b", re.I
)
# A deployment that never came up, or went away, has not judged anything.
_HARNESS: Final = re.compile(
    r"\b(?:backend|server|deployment|process|worker|port)\b[^.;\n]{0,40}"
    r"\b(?:did(?: not|n'?t) (?:start|respond|come up|become ready)|never (?:started|came up|responded)|timed out)\b"
    r"|\b(?:timed out|time-?out|gave up|giving up)\b[^.;\n]{0,20}\b(?:waiting for|starting|connecting to|reaching)\b"
    r"[^.;\n]{0,30}\b(?:backend|server|deployment|worker|port|container)\b"
    r"|\b(?:hook|set-?up|install(?:ation)?) timed out\b|\bconnection (?:refused|reset|closed|lost)\b",
    re.I,
)
_FOREIGN_HOST: Final = re.compile(r"\b(?!localhost\b)(?:[a-z0-9-]+\.)+(?:org|com|net|io|dev|app|cloud)\b", re.I)
# What tools say when they say nothing: every word of such a complaint is one of these.
_SAYS_NOTHING: Final = frozenset(
    re.findall(
        r"\S+",
        """a an and any are as at be because but by cause code command convex could deploy deployed deployment details
    did didn due enough error exit exited failed failing failure failures for from function functions generic has
    insufficient is it its known log logged logs message missing module modules more no non not of on only or output
    passed push pushed reason recurring see some status step tests the there this to truncated unable unclear unknown
    unspecified usable was were with without""",
    )
)


def outside_trouble(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The network, or a host that is not ours, failed."""
    text = f"{complaint.message}\n{evidence.error}"
    found = _NETWORK.search(text) or _HARNESS.search(text) or (_FOREIGN_HOST.search(text) and _GATEWAY.search(text))
    if complaint.kind not in ("behaviour", "refused", "unexplained") or not found:
        return None
    return Opinion(
        "nobody",
        "outside_trouble",
        f"No verdict: something outside failed ({found[0]}).",
        f"The check says “{complaint.said}”, which is trouble of the network or of a host that is not ours. "
        f"It says nothing about the answer, so nobody is blamed; grade it again.",
        f"“{found[0]}” in what the check said",
    )


def nothing_to_judge(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The step gave no reason, and nothing else shows one."""
    if not says_nothing(evidence) or _shows_a_cause(evidence):
        return None
    return Opinion(
        "model",
        "nothing_to_judge",
        f"The step {evidence.failed_step} gives no reason; most such failures are the answer's own.",
        f"All that the step {evidence.failed_step} said is “{complaint.said}”, and nothing else shows a cause. "
        f"Most failures are the answer's own, so that is the guess; look at it before relying on it.",
        "no evidence: this is how most failures are",
    )


def says_nothing(evidence: Evidence) -> bool:
    """Whether the failed step blames nothing in particular."""
    if any(each.place or each.expected or each.name for each in evidence.failed_diagnostics):
        return False
    words = re.findall(r"[a-z]+(?:-[a-z]+)*", evidence.error.lower())
    return all(word in _SAYS_NOTHING for word in words)


def _shows_a_cause(evidence: Evidence) -> bool:
    cause = evidence.cause
    return bool(evidence.unknown_symbols or cause.model_snippet.strip() or cause.expected_snippet.strip()) or same_code(
        evidence
    )
