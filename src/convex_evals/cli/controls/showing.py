"""Findings for people: a table, and a line for everything that is not as it must be."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from convex_evals.cli.output import count, table, table_lines, visible
from convex_evals.controls import Findings, Judged
from convex_evals.suite import Problem

LONGEST_LINE = 600


def print_findings(found: Sequence[Findings], problems: Sequence[Problem], out: TextIO) -> None:
    rows = table(["eval", "reference", "empty", "wrong", "alternatives", "problems"])
    for each in found:
        rows.add_row(
            each.eval.id,
            each.reference.status,
            each.empty.status,
            _share(each.wrong),
            _share(each.alternatives),
            str(len(each.problems) or ""),
        )
    for line in (*table_lines(rows), "", *complaints(found, problems), summary(found, problems)):
        print(line, file=out)


def complaints(found: Sequence[Findings], problems: Sequence[Problem]) -> Iterator[str]:
    """One line each: which answer of which eval, what was expected, what happened."""
    for problem in problems:
        yield f"broken: {problem}"
    for each in found:
        for problem in each.problems:
            yield f"broken: {problem}"
        for judged in each.judged:
            if judged.complaint:
                yield shortened(visible(f"{each.eval.id}: {judged.name} {judged.complaint}"))


def summary(found: Sequence[Findings], problems: Sequence[Problem]) -> str:
    judged = [each for findings in found for each in findings.judged]
    wrong = sum(not each.ok for each in judged)
    broken = len(problems) + sum(len(each.problems) for each in found)
    parts = [
        count(len(found), "eval"),
        f"{len(judged) - wrong} of {count(len(judged), 'answer')} judged as they must be",
    ]
    if broken:
        parts.append(f"{count(broken, 'file')} broken")
    return " · ".join(parts)


def shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


def _share(judged: Sequence[Judged]) -> str:
    return f"{sum(each.ok for each in judged)} of {len(judged)}" if judged else "none"
