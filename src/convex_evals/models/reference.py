"""`reference` answers with the suite's own reference answers: all of them must pass."""

from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.models.model import BUILT_IN
from convex_evals.scores import Generation
from convex_evals.suite import Eval, read_answer


@dataclass(frozen=True, slots=True)
class ReferenceModel:
    answer_files: Sequence[str] = ("**/*",)
    name: str = "reference"
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files=read_answer(asked, self.answer_files))
