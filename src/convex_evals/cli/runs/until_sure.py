"""What `run --until-sure` says: before every round, and when it is over; in words and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from convex_evals.cli.output import count, visible
from convex_evals.cli.runs.comparison import points, statistics_json
from convex_evals.core.ids import prefix
from convex_evals.runner import ActiveRun, UntilSure
from convex_evals.scores import ScoresStore
from convex_evals.statistics import SIGNIFICANT, Look


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
        "statistics": statistics_json(each.comparison),
    }


def _name(run: str, store: ScoresStore) -> str:
    return f"{visible(store.find_run(run).model)} {prefix(run)}"
