"""What a plan is going to take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from convex_evals.core.errors import UsageError
from convex_evals.models import Expected, OutputBasis, ProviderModel, expect_generation, output_basis
from convex_evals.runner.budget import Budget
from convex_evals.runner.plans import Plan
from convex_evals.runner.work import ActiveRun, WorkItem

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of the generations of one plan. `cost_usd` is None when nobody knows the model's price."""

    model: str
    experiment: str
    asked: int
    cached: int
    stored: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: OutputBasis

    @classmethod
    def of(cls, plan: Plan, store: "ScoresStore") -> Self | None:
        """None: no provider is asked, whatever happens."""
        if not isinstance(plan.model, ProviderModel):
            return None
        basis = output_basis(store, plan.model.name)
        wanted = [item for item in plan.work if item.stored is None]
        expected = [_expected(plan, item, basis) for item in wanted]
        asked = [each for each in expected if each is not None]
        return cls(
            model=plan.model.name,
            experiment=plan.run.experiment,
            asked=len(asked),
            cached=len(wanted) - len(asked),
            stored=len(plan.work) - len(wanted),
            input_tokens=sum(each.input_tokens for each in asked),
            output_tokens=sum(each.output_tokens for each in asked),
            cost_usd=_total(asked),
            basis=basis,
        )


def open_budget(limit: float, plans: Sequence[Plan], store: "ScoresStore") -> Budget:
    """Raises UsageError when the price of a model that has to be asked is not known."""
    bases: dict[str, OutputBasis] = {}
    for plan in plans:
        estimate = Estimate.of(plan, store)
        if estimate is not None and estimate.asked and estimate.cost_usd is None:
            raise UsageError(
                f"--budget needs the price of {plan.model.name}, which is not known; "
                f"give it in ./models.toml as price = {{ input = …, output = … }}."
            )
        bases[plan.model.name] = estimate.basis if estimate else OutputBasis(0, 0)

    def expect(run: ActiveRun, item: WorkItem) -> float:
        expected = expect_generation(run.model, item.eval, item.trial, bases[run.model.name].tokens)
        return (expected.cost_usd or 0.0) if expected else 0.0

    return Budget(limit, expect)


def _expected(plan: Plan, item: WorkItem, basis: OutputBasis) -> Expected | None:
    return expect_generation(plan.model, item.eval, item.trial, basis.tokens)


def _total(asked: Sequence[Expected]) -> float | None:
    costs = [each.cost_usd for each in asked]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
