"""What a run took: tokens and cost, added up from what each generation says."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

from convex_evals.scores import CostSource, GenerationRecord, Usage


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
    """`asked` counts the generations that a provider was asked for, `cached` those from the response cache."""

    asked: int
    cached: int
    input: Sum
    cached_input: Sum
    output: Sum
    reasoning: Sum
    cost: Sum
    sources: tuple[CostSource, ...]  # of the known costs

    @classmethod
    def of(cls, records: Iterable[GenerationRecord]) -> Self:
        """An answer that was only graded again cost nothing again."""
        first = [record for record in records if record.reused_from is None]
        usages = [record.usage for record in first if record.usage is not None and not record.from_cache]

        def add(figure: Callable[[Usage], float | None]) -> Sum:
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
