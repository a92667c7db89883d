"""Findings for programs. Fields are added, never renamed."""

from collections.abc import Sequence
from typing import Any

from convex_evals.controls.findings import Findings
from convex_evals.controls.judging import Judged
from convex_evals.suite import Problem


def findings_json(findings: Sequence[Findings], problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """`problems` are those of no eval in particular."""
    return {
        "ok": not problems and all(each.ok for each in findings),
        "evals": [_eval(each) for each in findings],
        "problems": [str(problem) for problem in problems],
    }


def _eval(found: Findings) -> dict[str, Any]:
    return {
        "eval": found.eval.id,
        "ok": found.ok,
        "reference": found.reference.status,
        "empty": found.empty.status,
        "wrong": [_judged(each) for each in found.wrong],
        "alternatives": [_judged(each) for each in found.alternatives],
        "mutants": None,
        "problems": [str(problem) for problem in found.problems],
        "complaints": [f"{each.name} {each.complaint}" for each in found.judged if each.complaint],
    }


def _judged(judged: Judged) -> dict[str, Any]:
    return {
        "name": judged.name,
        "ok": judged.ok,
        "status": judged.status,
        "caughtBy": judged.caught_by,
        "failedTests": list(judged.failed_tests),
        "complaint": judged.complaint or None,
        "excerpt": judged.excerpt,
    }
