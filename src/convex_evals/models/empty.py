"""`empty` writes nothing: every grader must notice."""

from dataclasses import dataclass

from convex_evals.models.model import BUILT_IN
from convex_evals.scores import Generation
from convex_evals.suite import Eval


@dataclass(frozen=True, slots=True)
class EmptyModel:
    name: str = "empty"
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files={})
