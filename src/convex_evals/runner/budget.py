"""Money: how much may be spent on asking, what a plan is going to take, and what a run took."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from convex_evals.core.errors import UsageError
from convex_evals.models import Expected, OutputBasis, ProviderModel, expect_generation, output_basis
from convex_evals.runner.plans import Plan
from convex_evals.runner.work import ActiveRun, WorkItem
from convex_evals.scores import Answer, CostSource, Generation, GenerationRecord, Usage

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


Expect = Callable[[ActiveRun, WorkItem], float]
"""What asking for this is expected to cost, in US dollars; 0 if nobody has to be asked."""


@dataclass(slots=True)
class Budget:
    """A generation begins only if it fits in beside what is spent and what those in flight are expected to cost."""

    limit: float
    expect: Expect
    spent: float = 0.0
    _in_flight: dict[WorkItem, float] = field(default_factory=dict)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    async def admit(self, run: ActiveRun, item: WorkItem) -> bool:
        """Whether it may begin; waits for those in flight, which may turn out cheaper than expected."""
        expected = self.expect(run, item) if item.stored is None else 0.0
        while expected and self.spent + self._expected + expected > self.limit:
            if not self._expected:
                return False
            self._settled.clear()
            await self._settled.wait()
        self._in_flight[item] = expected
        return True

    @property
    def _expected(self) -> float:
        """What those in flight are expected to cost."""
        return sum(self._in_flight.values())

    @property
    def exhausted(self) -> str:
        return f"The budget of {dollars(self.limit)} has no room for another answer; {dollars(self.spent)} is spent."

    def settle(self, item: WorkItem, generation: Generation | None, unusable: Sequence[Usage] = ()) -> None:
        """It is over. A cost that nobody reported counts as much as was expected, for every try."""
        expected = self._in_flight.pop(item, 0.0)
        self._settled.set()
        tries = list(unusable)
        if generation is not None and not generation.from_cache:
            tries += [*generation.unusable, generation.usage or Usage()]
        self.spent += sum(expected if each.cost_usd is None else each.cost_usd for each in tries)


def dollars(amount: float) -> str:
    """`$0.0042`, `$12.30`: two significant digits, and at least cents."""
    if 0 < amount < 0.01:
        return f"${amount:.2g}" if amount >= 0.0001 else f"${amount:.6f}"
    return f"${amount:,.2f}"


@dataclass(frozen=True, slots=True)
class Sum:
    """A total, and of how many it is not known: with any of these it is a part, not the whole."""

    total: float
    known: int
    unknown: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self:
        listed = list(values)
        known = [value for value in listed if value is not None]
        return cls(sum(known), len(known), len(listed) - len(known))

    @property
    def value(self) -> float | None:
        """None when nothing is known."""
        return self.total if self.known else None


@dataclass(frozen=True, slots=True)
class Spending:
    """`asked` counts the answers that a provider was asked for, `cached` those from the response cache."""

    asked: int
    cached: int
    input: Sum
    cached_input: Sum
    output: Sum
    reasoning: Sum
    cost: Sum
    sources: tuple[CostSource, ...]  # of the known costs

    @classmethod
    def of_run(cls, store: "ScoresStore", run_id: str) -> Self:
        answers = store.history.answers([run_id])[run_id]
        return cls.of(store.generations(run_id), [each for each in answers if not each.usable])

    @classmethod
    def of(cls, records: Iterable[GenerationRecord], unusable: Sequence[Answer] = ()) -> Self:
        """An answer that was only graded again cost nothing again."""
        first = [record for record in records if record.reused_from is None]
        asked = [record.usage for record in first if record.usage is not None and not record.from_cache]
        usages: list[Usage | Answer] = [*asked, *unusable]

        def add(figure: Callable[[Usage | Answer], float | None]) -> Sum:
            return Sum.of(figure(usage) for usage in usages)

        return cls(
            asked=len(usages),
            cached=sum(record.from_cache for record in first),
            input=add(lambda usage: usage.input_tokens),
            cached_input=add(lambda usage: usage.cached_tokens),
            output=add(lambda usage: usage.output_tokens),
            reasoning=add(lambda usage: usage.reasoning_tokens),
            cost=add(lambda usage: usage.cost_usd),
            sources=tuple(sorted({usage.cost_source for usage in usages if usage.cost_usd is not None})),
        )


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
