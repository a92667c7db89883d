"""What a model is to the rest of the program, and the two that need no provider: `reference` and `empty`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from convex_evals.scores import Generation
from convex_evals.suite import Eval, read_answer

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


@dataclass(frozen=True, slots=True)
class EmptyModel:
    name: str = "empty"
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files={})


@dataclass(frozen=True, slots=True)
class ReferenceModel:
    answer_files: Sequence[str] = ("**/*",)
    name: str = "reference"
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files=read_answer(asked, self.answer_files))
