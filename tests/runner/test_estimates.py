from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import read_settings
from convex_evals.models import AskOptions, Connections, find_model
from convex_evals.models.cache import CachingTransport
from convex_evals.models.experiments import find_experiment
from convex_evals.models.pricing import CHARACTERS_PER_TOKEN
from convex_evals.models.providers import ProviderModel, Reply
from convex_evals.pipeline.types import GradingOptions
from convex_evals.runner import Estimate, Plan, Request, open_budget, plan_run
from convex_evals.scores import Generation, PlannedEval, RunPlan, ScoresStore, Usage
from convex_evals.suite import Suite, load_suite

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


def test_a_price_that_nobody_knows_is_no_number_and_no_budget(
    suite: Suite, store: ScoresStore, connections: Connections
) -> None:
    planned = plan("local/tiny", suite, store, connections)
    assert estimate(planned, store).cost_usd is None
    with pytest.raises(
        UsageError, match=r"--budget needs the price of local/tiny, which is not known; give it in \./mod"
    ):
        open_budget(1, [planned], store)
    assert open_budget(1, [plan("reference", suite, store, connections)], store).limit == 1
