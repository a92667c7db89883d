"""Failures that are not about the answer: it is the reference's own code, or its verdict changes by itself."""

import re
from typing import Final

from convex_evals.analysis.classification.rules.opinion import GRADERS_OWN, Complaint, Opinion
from convex_evals.analysis.evidence import Evidence

# Where a person wrote the snippets down, a remark may stand for the code.
_SAID_TO_BE_SAME: Final = re.compile(
    r"\s*(?:(?:the )?(?:reference|answer|expected \w+)(?: \w+){0,3} )?(?:the |an? )?"
    r"(?:same|identical|(?:semantically |functionally )?equivalent)\b(?![^\n]*[{;]\s*$)",
    re.IGNORECASE,
)

_PLACE: Final = re.compile(r"^// ([\w./-]+\.(?:tsx?|jsx?))", re.MULTILINE)
_SYNTAX: Final = re.compile(r"\bsyntax error\b|\bExpected .{1,40} but found\b|\bUnexpected (?:token|end of)\b", re.I)


def reference_fails_too(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The reference was put through the same check and does not pass it either."""
    parity = evidence.parity
    if parity is None or not parity.reference_fails(complaint.diagnostic):
        return None
    return Opinion(
        "check",
        "reference_fails_too",
        f"The reference answer fails the same check: {complaint.said}",
        f"The reference, with its own package.json and configuration, was put through the step {evidence.failed_step} "
        f"and raises the same complaint ({complaint.said}). A check that the reference does not pass is wrong.",
        "the reference answer fails the same check",
        (complaint.place,),
    )


_LACKING: Final = re.compile(r"Cannot find (?:module|type definition file for|name) ['\"](?![./])")


def graders_own_file(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The grader's own file has a problem of its own: a package that it needs is not there, or a linter dislikes it."""
    path = complaint.diagnostic.file or ""
    if not GRADERS_OWN.search(path) or path in evidence.files or complaint.kind not in ("types", "set-up", "lint"):
        return None
    if complaint.kind != "lint" and not _LACKING.search(complaint.message):
        return None  # it may miss what the answer should have had
    return Opinion(
        "check",
        "graders_own_file",
        f"The grader's own file fails: {complaint.said}",
        f"The complaint ({complaint.said}) is about {path}, which belongs to the grader. "
        f"The reference would fail in the same way.",
        f"{path} is the grader's own",
        (complaint.place,),
    )


def configuration_only(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """With nothing but the reference's configuration the answer passes, and the task does not ask for that."""
    parity = evidence.parity
    if parity is None or not parity.configuration_cures or complaint.kind not in ("types", "set-up", "refused"):
        return None
    return Opinion(
        "model",
        "configuration_only",
        f"The code is right, its configuration is not: {complaint.said}",
        "With the reference's package.json and tsconfig.json, and not a line of code changed, the step passes. "
        "The answer left out what its own code needs.",
        "the step passes with the reference's configuration alone",
        (complaint.place,),
    )


def same_as_reference(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """Where it failed, the answer is the reference's own code."""
    if not same_code(evidence) or _SYNTAX.search(complaint.message):
        return None
    return Opinion(
        "check",
        "same_as_reference",
        f"The code is the reference's own, and the step {evidence.failed_step} still fails.",
        f"The code that failed does not differ from the reference answer, apart from layout. "
        f"What the step {evidence.failed_step} insists on ({complaint.said}) is therefore not about the answer.",
        "the answer's code is that of the reference",
        (complaint.place,),
    )


def unstable_verdict(complaint: Complaint, evidence: Evidence) -> Opinion | None:
    """The very same files passed elsewhere."""
    same = evidence.counterfactuals.same_answer
    if same is None or not same.passed:
        return None
    return Opinion(
        "check",
        "unstable_verdict",
        f"The very same files passed {same.passed} of {same.total} other times.",
        f"These files were graded {same.total} more times and passed {same.passed} of them. "
        f"A verdict that changes while the answer does not says nothing about the answer.",
        f"the same files passed {same.passed} of {same.total} other times",
        (complaint.place,),
    )


def same_code(evidence: Evidence) -> bool:
    """Apart from layout and comments. Unknown code is never the same; where files are known, all of them count."""
    if evidence.files:
        files = {path: plain(text) for path, text in evidence.files.items()}
        return files == {path: plain(text) for path, text in evidence.answer.items()}
    cause = evidence.cause
    model, expected = plain(cause.model_snippet), plain(cause.expected_snippet)
    if not model or not expected or _PLACE.findall(cause.model_snippet) != _PLACE.findall(cause.expected_snippet):
        return False
    return model == expected or bool(_SAID_TO_BE_SAME.match(evidence.cause.expected_snippet))


def plain(code: str) -> str:
    """Code without comments, blanks and the marks that formatters add."""
    without = re.sub(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", "", code, flags=re.DOTALL)
    return re.sub(r"[\s;]+|,(?=\s*[)\]}])", "", without)
