"""What asking is going to take, before anybody is asked. Every figure says where it comes from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.models.cache import CachingTransport
from convex_evals.models.model import Model
from convex_evals.models.pricing import estimate_cost
from convex_evals.models.prompt import Prompt
from convex_evals.models.providers import ProviderModel
from convex_evals.scores import RunFilter
from convex_evals.suite import Eval

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

CHARACTERS_PER_TOKEN: Final = 4
ASSUMED_OUTPUT_TOKENS: Final = 4000
RUNS_LOOKED_AT: Final = 5


@dataclass(frozen=True, slots=True)
class OutputBasis:
    """How long an answer is taken to be: the mean of earlier ones, or, when there are none, an assumption."""

    tokens: int
    generations: int

    @property
    def shown(self) -> str:
        if not self.generations:
            return f"answers of {self.tokens:,} tokens are assumed, since there is no earlier run"
        return f"answers of {self.tokens:,} tokens, the mean of {self.generations} in earlier runs"


@dataclass(frozen=True, slots=True)
class Expected:
    """Of one generation. `cost_usd` is None when nobody knows the price."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None


def output_basis(store: "ScoresStore", model: str) -> OutputBasis:
    """From the latest runs of the model that say how long its answers were."""
    lengths = [
        record.usage.output_tokens
        for run in store.runs(RunFilter(model=model, limit=RUNS_LOOKED_AT))
        for record in store.generations(run.id)
        if record.reused_from is None and record.usage is not None and record.usage.output_tokens
    ]
    return OutputBasis(round(sum(lengths) / len(lengths)) if lengths else ASSUMED_OUTPUT_TOKENS, len(lengths))


def expect_generation(model: Model, asked: Eval, trial: int, output_tokens: int) -> Expected | None:
    """None: nobody has to be asked, since the model needs no provider or its answer is in the cache."""
    if not isinstance(model, ProviderModel) or not isinstance(model.transport, CachingTransport):
        return None
    question = model.question(asked, trial)
    if model.transport.has(question):
        return None
    tokens = count_tokens(question.prompt)
    return Expected(tokens, output_tokens, estimate_cost(model.transport.entry, tokens, output_tokens))


def count_tokens(prompt: Prompt | str) -> int:
    """Roughly: no provider's way of counting is known here."""
    length = len(prompt) if isinstance(prompt, str) else len(prompt.system) + len(prompt.user)
    return -(-length // CHARACTERS_PER_TOKEN)
