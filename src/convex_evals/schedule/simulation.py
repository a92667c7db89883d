"""What a schedule would do in the days to come: the policy asked every few hours, with every run going well."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from convex_evals.schedule.policy import NOTHING, Candidate, Spent, Turn, plan
from convex_evals.schedule.rules import Rules

TICK: Final = timedelta(hours=4)


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    at: datetime
    model: str
    experiment: str
    cost: float
    why: str


def simulate(
    candidates: Sequence[Candidate],
    rules: Rules,
    start: datetime,
    days: int,
    minted: datetime | None = None,
    spent: Spent = NOTHING,
) -> tuple[SimulatedRun, ...]:
    """`spent` is what this month has cost before `start`."""
    runs = list[SimulatedRun]()
    now, month = start, spent.month
    while now < start + timedelta(days=days):
        due = [turn for turn in plan(candidates, rules, now, minted, Spent(month)) if turn.state == "due"]
        runs += [_run(turn, now) for turn in due]
        month += sum(turn.cost for turn in due)
        done = {(turn.candidate.model, turn.candidate.experiment) for turn in due}
        candidates = [_after(each, now) if (each.model, each.experiment) in done else each for each in candidates]
        month = month if (now + TICK).month == now.month else 0.0
        now += TICK
    return tuple(runs)


def _run(turn: Turn, now: datetime) -> SimulatedRun:
    candidate = turn.candidate
    return SimulatedRun(now, candidate.model, candidate.experiment, turn.cost, turn.why)


def _after(candidate: Candidate, now: datetime) -> Candidate:
    return replace(candidate, last_run=now, failures=0, last_failure=None, unfinished=None, running=False)
