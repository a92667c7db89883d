import asyncio
from pathlib import Path

import pytest

from convex_evals.models.model import EmptyModel
from convex_evals.models.replay import StoredGeneration
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import ActiveRun, Budget, WorkItem, dollars
from convex_evals.scores import Generation, Usage
from convex_evals.suite import Eval, Pipeline
from convex_evals.suite.eval import EvalFingerprints

SAID = Usage(cost_usd=0.25, cost_source="provider")
UNSAID = Usage()


def work(number: int, stored: bool = False) -> WorkItem:
    asked = Eval("000-c", f"{number:03}-e", Path(), "", Pipeline.STATIC, None, None, EvalFingerprints("c", None))
    return WorkItem("r", "empty", "default", asked, 1, StoredGeneration("run", "attempt") if stored else None)


@pytest.fixture
def run() -> ActiveRun:
    return ActiveRun("r", EmptyModel(), GradingOptions(), ())


def generation(usage: Usage | None, from_cache: bool = False) -> Generation:
    return Generation("", "", {}, usage, from_cache)


@pytest.mark.parametrize(
    ("made", "spent"),
    [
        (generation(SAID), 0.25),
        (generation(UNSAID), 0.4),
        (generation(None), 0.4),
        (generation(UNSAID, from_cache=True), 0.0),
        (None, 0.0),
    ],
    ids=["said", "not said, so as expected", "no usage, so as expected", "from the cache", "no answer"],
)
async def test_what_is_spent_is_what_was_said_or_else_expected(
    run: ActiveRun, made: Generation | None, spent: float
) -> None:
    budget = Budget(1, lambda run, work: 0.4)
    assert await budget.admit(run, work(1))
    budget.settle(work(1), made)
    assert budget.spent == spent


async def test_what_does_not_fit_waits_for_those_in_flight_and_begins_if_they_were_cheaper(run: ActiveRun) -> None:
    budget = Budget(1, lambda run, work: 0.6)
    assert await budget.admit(run, work(1))
    second = asyncio.create_task(budget.admit(run, work(2)))
    await asyncio.sleep(0)
    assert not second.done()
    budget.settle(work(1), generation(SAID))
    assert await second
    budget.settle(work(2), generation(SAID))
    assert not await budget.admit(run, work(3))
    assert budget.exhausted == "The budget of $1.00 has no room for another answer; $0.50 is spent."


async def test_what_costs_nothing_always_fits(run: ActiveRun) -> None:
    assert await Budget(0, lambda run, work: 0.0).admit(run, work(1))
    assert await Budget(0, lambda run, work: 9.0).admit(run, work(1, stored=True))
    assert not await Budget(0, lambda run, work: 9.0).admit(run, work(1))


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0.00"),
        (12.3, "$12.30"),
        (0.42, "$0.42"),
        (0.0042, "$0.0042"),
        (0.00001, "$0.000010"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars_have_cents_and_small_amounts_as_many_digits_as_they_need(amount: float, text: str) -> None:
    assert dollars(amount) == text
