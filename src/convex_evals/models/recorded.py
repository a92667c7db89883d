"""Models whose answers are files in `samples/`: `sample/apprentice` is one, and needs neither key nor network.

The answer to an eval is the raw response `samples/<name>/<category>/<eval>.md`, read as any other response.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.checkout import checkout_root, package_folder
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.models.parsing import parse_response
from convex_evals.scores import Generation
from convex_evals.suite import Eval

PROVIDER: Final = "sample"
SAMPLE: Final = f"{PROVIDER}/"


def samples_folder() -> Path:
    """In the clone that the code runs from, or in the installed package."""
    root = checkout_root()
    return root / "samples" if root else package_folder() / "_samples"


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """Answers with recordings; the same one in every trial."""

    folder: Path
    name: str
    provider: str = PROVIDER

    @classmethod
    def named(cls, slug: str, samples: Path | None = None) -> "RecordedModel":
        """`sample/NAME`. Raises UsageError when there are no recordings of that name."""
        name = slug.removeprefix(SAMPLE)
        folder = (samples or samples_folder()) / name
        if not name or "/" in name or not folder.is_dir():
            raise UsageError(f"There is no recorded model {slug!r}: {folder} is not a folder of recordings.")
        return cls(folder, slug)

    def recording(self, asked: Eval) -> Path:
        return self.folder / asked.category / f"{asked.name}.md"

    def answers(self, asked: Eval, trial: int) -> bool:
        """Always planned: an eval without a recording is an error to be seen, not left out."""
        return True

    async def generate(self, asked: Eval, trial: int) -> Generation:
        path = self.recording(asked)
        try:
            response = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InfrastructureError(f"{self.name} has no recording for {asked.id}: {path} cannot be read.") from error
        return Generation(prompt=asked.task, response=response, files=parse_response(response).files)
