"""Findings for programs. Fields are added, never renamed."""

from collections.abc import Sequence
from typing import Any

from convex_evals.controls.findings import Findings
from convex_evals.controls.judging import Judged
from convex_evals.controls.survival import JudgedMutant, Survival, catch_rate, share
from convex_evals.statistics import Score
from convex_evals.suite import Problem


def findings_json(findings: Sequence[Findings], problems: Sequence[Problem] = ()) -> dict[str, Any]:
    """`problems` are those of no eval in particular."""
    return {
        "ok": not problems and all(each.ok for each in findings),
        "mutantsCaught": share([each.mutants for each in findings if each.mutants]),
        "catchRate": _catch_rate(catch_rate({each.eval.id: each.mutants for each in findings if each.mutants})),
        "evals": [_eval(each) for each in findings],
        "problems": [str(problem) for problem in problems],
    }


def _catch_rate(found: Score | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "value": found.value,
        "interval": [found.interval.low, found.interval.high],
        "method": found.method,
        "evals": found.evals,
        "mutants": found.trials,
    }


def _eval(found: Findings) -> dict[str, Any]:
    return {
        "eval": found.eval.id,
        "ok": found.ok,
        "reference": found.reference.status,
        "empty": found.empty.status,
        "wrong": [_judged(each) for each in found.wrong],
        "alternatives": [_judged(each) for each in found.alternatives],
        "mutants": _survival(found.mutants) if found.mutants else None,
        "problems": [str(problem) for problem in found.all_problems],
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


def _survival(survival: Survival) -> dict[str, Any]:
    by_step: dict[str, int] = {}
    for each in survival.killed:
        by_step[str(each.caught_by)] = by_step.get(str(each.caught_by), 0) + 1
    return {
        "killed": len(survival.killed),
        "total": survival.total,
        "interval": [survival.interval.low, survival.interval.high],
        "killedBy": by_step,
        "survivors": [_mutant(each) for each in survival.survivors],
        "equivalent": [_mutant(each) for each in survival.equivalent],
        "withoutVerdict": [_mutant(each) for each in survival.without_verdict],
    }


def _mutant(judged: JudgedMutant) -> dict[str, Any]:
    mutant = judged.mutant
    return {
        "id": mutant.id,
        "operator": mutant.operator,
        "file": mutant.path,
        "line": mutant.difference.line,
        "diff": list(mutant.difference.lines),
        "equivalent": judged.equivalent,
    }
