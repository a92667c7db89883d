"""What a model is to the rest of the program."""

from typing import Final, Protocol

from convex_evals.scores import Generation
from convex_evals.suite import Eval

BUILT_IN: Final = "built-in"
"""The provider of models that need no key."""


class Model(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str: ...

    def answers(self, asked: Eval, trial: int) -> bool:
        """Whether there is an answer to be had at all; what a model does not answer is not planned."""
        ...

    async def generate(self, asked: Eval, trial: int) -> Generation:
        """Asks once. Raises InfrastructureError when no answer came through no fault of the model."""
        ...
