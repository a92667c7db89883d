"""Compared runs, and what `run --until-sure` decided: lines for people, JSON, CSV and Markdown."""

from collections.abc import Iterator, Sequence
from typing import Any

from convex_evals.cli.output import count, csv_text, markdown_table, table, table_lines, visible
from convex_evals.cli.runs.exports import compared_json, run_summary_json
from convex_evals.cli.runs.summaries import difficulty_text, headline, interval_text, named, passed_text, standing
from convex_evals.core.ids import prefix
from convex_evals.core.text import points
from convex_evals.runner import (
    ActiveRun,
    ComparedEval,
    ComparedRuns,
    RunResults,
    RunScore,
    TagsOfEvals,
    UntilSure,
    by_difficulty,
    comparison_json,
)
from convex_evals.scores import RunRecord, ScoresStore
from convex_evals.statistics import SIGNIFICANT, Comparison, Look, Score

NAMED = 3
HEADINGS = (
    *("before", "after", "evals", "difference", "low", "high", "p", "test", "verdict", "gained", "lost"),
    "p_corrected",
)


def run_line(label: str, each: RunResults) -> str:
    """The headline with the mean over evals and its interval."""
    found = RunScore.of(each.run, each.results).score
    rate = "unknown" if found is None else interval_text(found)
    return f"{f'{label:<8}' if label else ''}{headline(each.run)} · pass rate {rate}"


def changed_lines(compared: Sequence[ComparedEval]) -> Iterator[str]:
    """What is different, and how much is not."""
    changed = [each for each in compared if each.change != "same"]
    kinds = max((len(each.change) for each in changed), default=0)
    width = max((len(each.eval) for each in changed), default=0)
    for each in changed:
        yield f"  {each.change:<{kinds}}  {each.eval:<{width}}  {standing(each.before)} → {standing(each.after)}"
    yield f"{count(len(changed), 'eval')} changed, {len(compared) - len(changed)} did not"


def pair_lines(compared: ComparedRuns, tags: TagsOfEvals) -> Iterator[str]:
    """What flipped, what only one of them has, and what the difference means."""
    yield from changed_lines(compared.shared)
    for names, where in ((compared.only("only before"), "first"), (compared.only("only after"), "second")):
        if names:
            yield f"{count(len(names), 'eval')} only in the {where} run: {named(names, NAMED)}"
    yield from caveat_lines(compared)
    yield from _difficulty_lines(compared, tags)
    yield from meaning_lines(compared.statistics)


def caveat_lines(compared: ComparedRuns) -> Iterator[str]:
    """What is not the same in both runs although it should be."""
    if compared.changed:
        evals = f"{count(len(compared.changed), 'eval')} with another task or grader in the second run"
        yield f"{evals}, left out of the difference: {named(compared.changed, NAMED)}"
    if not compared.same_grading:
        yield "The runs were graded with different options, tools or versions of convex-evals."


def _difficulty_lines(compared: ComparedRuns, tags: TagsOfEvals) -> Iterator[str]:
    """`by difficulty: easy 3 of 4 → 4 of 4 passed`, of the shared evals, where one of them has a difficulty."""
    groups = by_difficulty(compared.tallies, tags)
    if groups:
        sides = {name: zip(*group.values(), strict=True) for name, group in groups.items()}
        yield difficulty_text({name: " → ".join(map(passed_text, each)) for name, each in sides.items()})


def meaning_lines(found: Comparison | None) -> Iterator[str]:
    if found is None:
        yield "The runs share no eval with a verdict, so there is nothing to compare."
        return
    interval = f"95% interval {points(found.interval.low)} to {points(found.interval.high)}"
    yield f"difference {points(found.difference)} ({interval}, p = {found.p:.3g}): {verdict_text(found)}"
    yield f"{count(found.evals, 'shared eval')}, paired; interval by bootstrap over evals, p by {_test(found)}"


def verdict_text(found: Comparison) -> str:
    if found.verdict != "cannot tell":
        return f"the second run is {found.verdict}"
    needed = found.needed
    if needed is None:
        return "cannot tell"
    ways = [count(needed.trials, "trial") + " of each eval"] if needed.trials else []
    ways += [f"{needed.evals} evals"] if needed.evals and needed.evals > found.evals else []
    return f"cannot tell; it would take at least {' or '.join(ways)}" if ways else "cannot tell"


def matrix_lines(pairs: Sequence[ComparedRuns]) -> Iterator[str]:
    """One row per pair, and what is not the same in both runs of it."""
    rows = table(["runs", "difference", "p", "flipped", "verdict"], drop=("flipped",))
    for compared in pairs:
        rows.add_row(*_matrix_cells(compared))
    yield from table_lines(rows)
    yield from (f"{_pair(compared)}: {line}" for compared in pairs for line in caveat_lines(compared))
    corrected = f"p corrected for {len(pairs)} pairs (Holm)"
    yield f"difference in points with its 95% interval (bootstrap over shared evals), {corrected}"


def _matrix_cells(compared: ComparedRuns) -> tuple[str, ...]:
    found = compared.statistics
    if found is None:
        return (_pair(compared), "", "", "", "no shared eval")
    difference = f"{points(found.difference)} ({points(found.interval.low)} to {points(found.interval.high)})"
    flipped = f"+{len(found.gained)} −{len(found.lost)} of {found.evals}"
    return (_pair(compared), difference, f"{compared.p:.3g}", flipped, compared.verdict)


def pair_json(compared: ComparedRuns) -> dict[str, Any]:
    counted: dict[str, int] = {}
    for each in compared.evals:
        counted[each.change] = counted.get(each.change, 0) + 1
    before, after = compared.scores
    return {
        "before": _side_json(compared.before, before),
        "after": _side_json(compared.after, after),
        "changes": counted,
        "otherTaskOrGrader": list(compared.changed),
        "sameGrading": compared.same_grading,
        "statistics": comparison_json(compared.statistics) if compared.statistics else None,
        "pCorrected": compared.p,
        "verdict": compared.verdict,
        "evals": [compared_json(each) for each in compared.evals],
    }


def _side_json(run: RunRecord, found: Score | None) -> dict[str, Any]:
    return {**run_summary_json(run), "passRate": found.value if found else None}


def pairs_csv(pairs: Sequence[ComparedRuns]) -> str:
    return csv_text(HEADINGS, map(_row, pairs))


def pairs_markdown(pairs: Sequence[ComparedRuns]) -> str:
    return markdown_table(HEADINGS, map(_row, pairs))


def _row(compared: ComparedRuns) -> tuple[object, ...]:
    sides = prefix(compared.before.id), prefix(compared.after.id)
    found = compared.statistics
    if found is None:
        return (*sides, 0, *("" for _ in HEADINGS[3:]))
    numbers = (found.difference, found.interval.low, found.interval.high, found.p)
    rounded = tuple(f"{number:.4f}" for number in numbers)
    flipped = (len(found.gained), len(found.lost))
    return (*sides, found.evals, *rounded, found.test, compared.verdict, *flipped, f"{compared.p:.4f}")


def _pair(compared: ComparedRuns) -> str:
    return f"{prefix(compared.before.id)} → {prefix(compared.after.id)}"


def _test(found: Comparison) -> str:
    return "McNemar's exact test" if found.test == "exact McNemar" else "a sign-flip permutation test"


def next_line(sure: UntilSure, further: Sequence[ActiveRun]) -> str:
    """`Look 1 of 5: 1 of 3 comparisons decided; 24 more trials of 12 evals.`"""
    trials = sum(len(run.work) for run in further)
    evals = len({work.eval.id for run in further for work in run.work})
    decided = f"{len(sure.decided)} of {count(len(sure.pairs), 'comparison')} decided"
    return f"Look {sure.number} of {sure.looks}: {decided}; {count(trials, 'more trial')} of {count(evals, 'eval')}."


def until_sure_lines(sure: UntilSure, store: ScoresStore) -> Iterator[str]:
    """Each comparison with what was decided, why it ended, and how sure that is."""
    looks = _looks(sure)
    names = [f"{_name(each.pair[0], store)} → {_name(each.pair[1], store)}" for each in looks]
    width = max(map(len, names), default=0)
    for name, each in zip(names, looks, strict=True):
        found = each.comparison
        told = f"{points(found.difference)} ({points(found.interval.low)} to {points(found.interval.high)})"
        yield f"  {name:<{width}}  {told}  p = {each.p:.3g}  {_fate(each, sure)}"
    if sure.stopped:
        yield f"stopped after {count(sure.number, 'look')}: {visible(sure.stopped)}"
    else:
        yield f"interrupted after {count(sure.number, 'look')}; `run --resume RUN` finishes the trials that were begun"
    level = f"p below {SIGNIFICANT / sure.looks:.2%}"
    yield f"decided at {level} ({SIGNIFICANT:.0%} shared by {count(sure.looks, 'look')}), p corrected for pairs (Holm)"


def until_sure_json(sure: UntilSure) -> dict[str, Any]:
    return {
        "looks": sure.number,
        "mostLooks": sure.looks,
        "level": SIGNIFICANT / sure.looks,
        "against": sure.against,
        "stopped": sure.stopped or None,
        "comparisons": [_look_json(each, sure) for each in _looks(sure)],
    }


def _looks(sure: UntilSure) -> list[Look]:
    """Of each comparison the look that decided it, or else the latest."""
    return [sure.decided.get(each.pair, each) for each in sure.latest]


def _fate(each: Look, sure: UntilSure) -> str:
    if each.pair in sure.decided:
        return f"{each.verdict}, decided at look {each.number}"
    needed = each.comparison.needed
    if not each.is_hopeless or needed is None or not needed.evals or needed.evals <= each.comparison.evals:
        return "cannot tell"
    return f"cannot tell; it would take about {needed.evals} evals"


def _look_json(each: Look, sure: UntilSure) -> dict[str, Any]:
    return {
        "before": each.pair[0],
        "after": each.pair[1],
        "verdict": each.verdict,
        "decidedAtLook": each.number if each.pair in sure.decided else None,
        "pCorrected": each.p,
        "statistics": comparison_json(each.comparison) if each.comparison else None,
    }


def _name(run: str, store: ScoresStore) -> str:
    return f"{visible(store.find_run(run).model)} {prefix(run)}"
