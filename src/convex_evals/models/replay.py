"""`replay:DIR` answers with files from a folder, `replay:RUN` with what an earlier run stored."""

from dataclasses import dataclass
from pathlib import Path

from convex_evals.models.model import BUILT_IN
from convex_evals.models.stored import StoredAnswers
from convex_evals.scores import Generation
from convex_evals.suite import Eval, read_texts


@dataclass(frozen=True, slots=True)
class FolderReplay:
    """An answer is the folder `<category>/<name>/`, the same for every trial."""

    folder: Path
    name: str
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return (self.folder / asked.id).is_dir()

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return Generation(prompt=asked.task, response="", files=read_texts(self.folder / asked.id))


@dataclass(frozen=True, slots=True)
class RunReplay:
    """The answers of an earlier run, each as it was: prompt, response and files."""

    stored: StoredAnswers
    name: str
    provider: str = BUILT_IN

    def answers(self, asked: Eval, trial: int) -> bool:
        return (asked.id, trial) in self.stored.records

    async def generate(self, asked: Eval, trial: int) -> Generation:
        return self.stored.generation(asked.id, trial)
