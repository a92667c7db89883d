"""Who is due, now and in a simulation of the days to come: a function of the models, the rules and the time.

    interval = every × age × cost × certainty

`age` grows from 1 to 4 while a model gets a year older, `cost` from 1 to 3 with what a run costs, and `certainty`
shrinks to a quarter where the interval of the score is wide. A new benchmark version makes everyone due, and a
model that was never run comes first. After failed attempts a model waits, twice as long each time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from convex_evals.schedule.rules import Rules

State = Literal["due", "waiting", "running", "queued"]

OLDEST: Final = timedelta(days=365)
AGE_FACTOR: Final = 4.0
EXPENSIVE: Final = 50.0  # dollars for one run
COST_FACTOR: Final = 3.0
CERTAIN: Final = 0.05  # half the width of a score's interval that is good enough
LEAST_CERTAINTY: Final = 0.25
LONGEST_COOL_DOWN: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known about a model in one experiment. `margin` is half the width of its score's interval."""

    model: str
    experiment: str
    known_since: datetime | None = None
    last_run: datetime | None = None
    margin: float | None = None
    cost: float | None = None
    failures: int = 0  # attempts in a row that came to nothing, after the last run
    last_failure: datetime | None = None
    unfinished: str | None = None  # a scheduled run that can be resumed
    running: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """When a candidate is to be run, and why then. `cost` is what that is expected to take."""

    candidate: Candidate
    state: State
    at: datetime
    why: str
    cost: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What counts against the budget of the month, in US dollars."""

    month: float = 0.0


NOTHING: Final = Spent()


def plan(
    candidates: Iterable[Candidate], rules: Rules, now: datetime, minted: datetime | None = None, spent: Spent = NOTHING
) -> tuple[Turn, ...]:
    """Every candidate's turn: what is due within the budget first, in the order in which to run it."""
    turns = sorted((_turn(each, rules, now, minted) for each in candidates), key=_order)
    return tuple(_within_budget(turns, rules, spent))


def interval(candidate: Candidate, every: timedelta, now: datetime) -> timedelta:
    return every * (_age_factor(candidate, now) * _cost_factor(candidate) * _certainty_factor(candidate))


def _turn(candidate: Candidate, rules: Rules, now: datetime, minted: datetime | None) -> Turn:
    at, why = _moment(candidate, rules, now, minted)
    cost = rules.assumed_cost if candidate.cost is None else candidate.cost
    if candidate.running:
        return Turn(candidate, "running", now, "is running now", cost)
    cooled = _cooled(candidate, rules)
    if cooled is not None and cooled > max(at, now):
        why, at = f"{_attempts(candidate)} failed; waits until it is worth another try", cooled
    return Turn(candidate, "due" if at <= now else "waiting", at, why, cost)


def _moment(candidate: Candidate, rules: Rules, now: datetime, minted: datetime | None) -> tuple[datetime, str]:
    if candidate.unfinished is not None:
        return now, "was interrupted and is resumed"
    if candidate.last_run is None:
        return now, "never run"
    if minted is not None and minted > candidate.last_run:
        return minted, "a benchmark version was minted since its last run"
    every = rules.of(candidate.model).every
    assert every is not None
    return candidate.last_run + (wait := interval(candidate, every, now)), _reason(candidate, wait, now)


def _reason(candidate: Candidate, wait: timedelta, now: datetime) -> str:
    factors = [
        ("its age", _age_factor(candidate, now)),
        ("its cost", _cost_factor(candidate)),
        ("how sure its score is", _certainty_factor(candidate)),
    ]
    told = [f"× {factor:.1f} for {what}" for what, factor in factors if abs(factor - 1) >= 0.05]
    return f"every {_days(wait)}" + (f" ({', '.join(told)})" if told else "")


def _age_factor(candidate: Candidate, now: datetime) -> float:
    if candidate.known_since is None:
        return 1.0
    share = min(max((now - candidate.known_since) / OLDEST, 0.0), 1.0)
    return 1 + (AGE_FACTOR - 1) * share


def _cost_factor(candidate: Candidate) -> float:
    return 1 + (COST_FACTOR - 1) * min((candidate.cost or 0.0) / EXPENSIVE, 1.0)


def _certainty_factor(candidate: Candidate) -> float:
    if not candidate.margin or candidate.margin <= CERTAIN:
        return 1.0
    return max(CERTAIN / candidate.margin, LEAST_CERTAINTY)


def _cooled(candidate: Candidate, rules: Rules) -> datetime | None:
    if not candidate.failures or candidate.last_failure is None:
        return None
    waits: int = 1 << min(candidate.failures - 1, 10)
    return candidate.last_failure + min(rules.cool_down * waits, LONGEST_COOL_DOWN)


def _order(turn: Turn) -> tuple[bool, bool, bool, datetime, str, str]:
    """What is due comes first; of that what was interrupted, then what was never run, then what waited longest."""
    candidate = turn.candidate
    return (
        turn.state != "due",
        candidate.unfinished is None,
        candidate.last_run is not None,
        turn.at,
        candidate.model,
        candidate.experiment,
    )


def _within_budget(turns: Sequence[Turn], rules: Rules, spent: Spent) -> Iterable[Turn]:
    tick, month, runs = 0.0, spent.month, 0
    for turn in turns:
        refusal = None if turn.state != "due" else _refusal(turn, rules, tick, month, runs)
        if refusal is not None:
            yield Turn(turn.candidate, "queued", turn.at, refusal, turn.cost)
            continue
        if turn.state == "due":
            tick, month, runs = tick + turn.cost, month + turn.cost, runs + 1
        yield turn


def _refusal(turn: Turn, rules: Rules, tick: float, month: float, runs: int) -> str | None:
    if runs >= rules.runs_per_tick:
        return f"{turn.why}; {rules.runs_per_tick} go first"
    if tick + turn.cost > rules.budget_per_tick:
        return f"{turn.why}; ${turn.cost:.2f} does not fit into the ${rules.budget_per_tick:.2f} of one tick"
    if month + turn.cost > rules.budget_per_month:
        return f"{turn.why}; ${month:.2f} of this month's ${rules.budget_per_month:.2f} is taken"
    return None


def _attempts(candidate: Candidate) -> str:
    return "the last attempt" if candidate.failures == 1 else f"the last {candidate.failures} attempts"


def _days(wait: timedelta) -> str:
    days = wait / timedelta(days=1)
    return f"{days:.0f} days" if days >= 2 else f"{wait / timedelta(hours=1):.0f} hours"


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
