"""Findings for people: a table, and a line for everything that is not as it must be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from convex_evals.cli.output import count, table, table_lines, visible
from convex_evals.controls import TARGET, Findings, Judged, JudgedMutant, Survival, catch_rate, share
from convex_evals.statistics import Score
from convex_evals.suite import Problem

if TYPE_CHECKING:
    from rich.table import Table

LONGEST_LINE = 600


def print_findings(found: Sequence[Findings], problems: Sequence[Problem], out: TextIO) -> None:
    lines = [*table_lines(_table(found)), "", *_told(mutant_lines(found)), *_told(complaints(found, problems))]
    for line in (*lines, *summary(found, problems)):
        print(line, file=out)


def mutant_lines(found: Sequence[Findings]) -> Iterator[str]:
    """Survivors as small diffs; those that are known to be equivalent with the reason."""
    for each in found:
        if each.mutants is None:
            continue
        for judged in each.mutants.survivors:
            yield from _mutant(each, judged, "survives")
        for judged in each.mutants.without_verdict:
            yield from _mutant(each, judged, "has no verdict")
        for judged in each.mutants.equivalent:
            yield from _mutant(each, judged, f"is equivalent: {judged.equivalent}")


def complaints(found: Sequence[Findings], problems: Sequence[Problem]) -> Iterator[str]:
    """One line each: which answer of which eval, what was expected, what happened."""
    for problem in (*problems, *(problem for each in found for problem in each.all_problems)):
        yield f"broken: {problem}"
    for each in found:
        # When the eval itself is broken, every answer fares the same, and once is enough.
        judged = each.judged[:1] if each.reference.broken else each.judged
        for one in judged:
            if one.complaint:
                yield _shortened(visible(f"{each.eval.id}: {one.name} {one.complaint}"))


def summary(found: Sequence[Findings], problems: Sequence[Problem]) -> Iterator[str]:
    judged = [each for findings in found for each in findings.judged]
    right = sum(each.ok for each in judged)
    broken = len(problems) + sum(len(each.all_problems) for each in found)
    parts = [count(len(found), "eval"), f"{right} of {count(len(judged), 'answer')} judged as they must be"]
    yield " · ".join([*parts, *([f"{count(broken, 'file')} broken"] if broken else [])])
    yield from _mutants_summary({each.eval.id: each.mutants for each in found if each.mutants})


def _mutants_summary(by_eval: Mapping[str, Survival]) -> Iterator[str]:
    survivals = list(by_eval.values())
    caught, rate = share(survivals), catch_rate(by_eval)
    if caught is None or rate is None:
        return
    killed, total = sum(len(each.killed) for each in survivals), sum(each.total for each in survivals)
    equivalent = sum(len(each.equivalent) for each in survivals)
    parts = [f"{killed} of {count(total, 'mutant')} caught ({caught:.1%})", rate_text(rate)]
    parts += [f"{equivalent} known as equivalent"] if equivalent else []
    parts += [f"the target is {TARGET:.0%}"] if caught < TARGET else []
    yield " · ".join(parts)
    lost = [(name, len(each.survivors)) for name, each in by_eval.items() if each.survivors]
    if lost:
        yield f"survivors: {', '.join(f'{name} ({number})' for name, number in lost)}"


def rate_text(rate: Score) -> str:
    interval = f"{rate.interval.low:.1%} to {rate.interval.high:.1%}"
    if rate.evals == 1:
        return f"95% interval {interval}"
    return f"mean over {rate.evals} evals {rate.value:.1%} (95% interval {interval})"


def _table(found: Sequence[Findings]) -> "Table":
    with_mutants = any(each.mutants for each in found)
    rows = table(["eval", "reference", "empty", "wrong", "alternatives", *(["mutants"] if with_mutants else [])])
    for each in found:
        mutants = [f"{len(each.mutants.killed)} of {each.mutants.total}"] if each.mutants else []
        rows.add_row(
            each.eval.id,
            each.reference.status,
            each.empty.status,
            _share(each.wrong),
            _share(each.alternatives),
            *mutants,
        )
    return rows


def _mutant(found: Findings, judged: JudgedMutant, fate: str) -> Iterator[str]:
    mutant = judged.mutant
    yield f"{found.eval.id}: {mutant.id} {mutant.operator} {mutant.path}:{mutant.difference.line} {fate}"
    for line in mutant.difference.lines:
        yield f"    {visible(line)}"


def _told(lines: Iterator[str]) -> list[str]:
    """With an empty line behind them, if there are any."""
    told = list(lines)
    return [*told, ""] if told else []


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


def _share(judged: Sequence[Judged]) -> str:
    return f"{sum(each.ok for each in judged)} of {len(judged)}" if judged else "none"
