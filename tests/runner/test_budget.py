import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import read_settings
from convex_evals.models import AskOptions, Connections, find_model
from convex_evals.models.cache import CachingTransport
from convex_evals.models.costs import CHARACTERS_PER_TOKEN
from convex_evals.models.experiments import find_experiment
from convex_evals.models.model import EmptyModel, StoredGeneration
from convex_evals.models.providers import ProviderModel, Reply
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import ActiveRun, Budget, Estimate, Plan, Request, WorkItem, dollars, open_budget, plan_run
from convex_evals.scores import Generation, PlannedEval, RunPlan, ScoresStore, Usage
from convex_evals.suite import Eval, EvalFingerprints, Pipeline, Suite, load_suite

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


async def test_every_try_that_is_paid_for_counts(run: ActiveRun) -> None:
    budget = Budget(9, lambda run, work: 0.4)
    assert await budget.admit(run, work(1)) and await budget.admit(run, work(2))
    budget.settle(work(1), None, [SAID, UNSAID])
    assert budget.spent == pytest.approx(0.25 + 0.4)
    budget.settle(work(2), replace(generation(SAID), unusable=[SAID, UNSAID]))
    assert budget.spent == pytest.approx(0.25 + 0.4 + 0.25 + 0.25 + 0.4)


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


ASKING = AskOptions(find_experiment("no_guidelines"), base_url="http://127.0.0.1:9/v1")


@pytest.fixture
def suite(make_suite: Callable[[int], Suite]) -> Suite:
    made = make_suite(3)
    for number, each in enumerate(made.evals):
        (each.path / "TASK.txt").write_text(f"Say hello, number {number}.\n")
    return load_suite(made.root)


@pytest.fixture
def connections(tmp_path: Path) -> Connections:
    environment = {"OPENAI_API_KEY": "sk-test", "CONVEX_EVALS_CACHE": str(tmp_path / "cache")}
    return Connections(read_settings(environment=environment, cwd=tmp_path))


def plan(name: str, suite: Suite, store: ScoresStore, connections: Connections, trials: int = 1) -> Plan:
    model = find_model(name, store, asking=ASKING, connections=connections)
    return plan_run(model, Request(suite, suite.evals, GradingOptions(), ASKING, trials))


def estimate(planned: Plan, store: ScoresStore) -> Estimate:
    found = Estimate.of(planned, store)
    assert found is not None
    return found


def test_models_that_nobody_asks_have_no_estimate(suite: Suite, store: ScoresStore, connections: Connections) -> None:
    assert Estimate.of(plan("reference", suite, store, connections), store) is None


def test_prompts_are_counted_and_answers_assumed(suite: Suite, store: ScoresStore, connections: Connections) -> None:
    planned = plan("openai/gpt-4.1", suite, store, connections, trials=2)
    found = estimate(planned, store)
    assert isinstance(planned.model, ProviderModel)
    prompt = planned.model.question(suite.evals[0], 1).prompt
    tokens = -(-(len(prompt.system) + len(prompt.user)) // CHARACTERS_PER_TOKEN)
    assert (found.asked, found.input_tokens, found.output_tokens) == (6, 6 * tokens, 6 * 4000)
    assert found.basis.shown == "answers of 4,000 tokens are assumed, since there is no earlier run"
    # Two dollars for a million tokens in, eight for a million out.
    assert found.cost_usd == pytest.approx((found.input_tokens * 2 + found.output_tokens * 8) / 1_000_000)


def test_answers_are_taken_to_be_as_long_as_earlier_ones(
    suite: Suite, store: ScoresStore, connections: Connections
) -> None:
    for length in (100, 300):
        run = store.create_run(RunPlan("openai/gpt-4.1", "openai", "default", (PlannedEval("a/b"),)))
        usage = Usage(output_tokens=length)
        store.record_generation(store.begin_attempt(run, "a/b").id, Generation("", "", {}, usage))
    found = estimate(plan("openai/gpt-4.1", suite, store, connections), store)
    assert (found.basis.tokens, found.output_tokens) == (200, 600)
    assert found.basis.shown == "answers of 200 tokens, the mean of 2 in earlier runs"


async def test_what_the_cache_has_costs_nothing(suite: Suite, store: ScoresStore, connections: Connections) -> None:
    planned = plan("openai/gpt-4.1", suite, store, connections)
    before = estimate(planned, store)
    assert isinstance(planned.model, ProviderModel) and isinstance(planned.model.transport, CachingTransport)
    await replace(planned.model.transport, inner=Says("Hello.")).ask(planned.model.question(suite.evals[0], 1))
    after = estimate(planned, store)
    assert (after.asked, after.cached) == (2, 1)
    assert before.cost_usd and after.cost_usd and after.cost_usd < before.cost_usd


class Says:
    """Stands where the provider would."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def ask(self, question: object) -> Reply:
        return Reply(self.text, Usage(finish_reason="stop"))


def test_an_unknown_price_is_neither_a_number_nor_a_budget(
    suite: Suite, store: ScoresStore, connections: Connections
) -> None:
    planned = plan("local/tiny", suite, store, connections)
    assert estimate(planned, store).cost_usd is None
    with pytest.raises(
        UsageError, match=r"--budget needs the price of local/tiny, which is not known; give it in \./mod"
    ):
        open_budget(1, [planned], store)
    assert open_budget(1, [plan("reference", suite, store, connections)], store).limit == 1
