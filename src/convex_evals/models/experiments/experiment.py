"""One way of asking."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, Self

from convex_evals.core.errors import UsageError
from convex_evals.models.prompt import Delivery, Guidelines, PromptSettings, built_in_guidelines, read_guidelines

BUILT_IN: Final = "built-in"
NO_GUIDELINES: Final = "none"


@dataclass(frozen=True, slots=True)
class Experiment:
    """`guidelines` are ours, none, or a file. `source` is the file that the experiment is configured in."""

    name: str
    description: str = ""
    guidelines: Literal["built-in", "none"] | Path = BUILT_IN
    delivery: Delivery = "prompt"
    web_search: bool = False
    source: Path | None = None

    def with_guidelines(self, path: Path) -> Self:
        """The experiment with a user's own guidelines, under a name of its own, since its results are others."""
        if self.guidelines == NO_GUIDELINES:
            raise UsageError(f"The experiment {self.name} has no guidelines, so --guidelines {path} contradicts it.")
        stem = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_") or "custom"
        prefix = "" if self.name == "default" else f"{self.name}_"
        return replace(self, name=f"{prefix}guidelines_{stem}", guidelines=path, description=f"Guidelines from {path}.")

    def read_guidelines(self) -> Guidelines | None:
        """Raises UsageError."""
        if isinstance(self.guidelines, Path):
            return read_guidelines(self.guidelines)
        return built_in_guidelines() if self.guidelines == BUILT_IN else None

    def prompt_settings(self, answer_files: Sequence[str] = ("**/*",)) -> PromptSettings:
        """What its prompts are made of. `answer_files` are the suite's globs. Raises UsageError."""
        return PromptSettings(
            guidelines=self.read_guidelines(),
            delivery=self.delivery,
            web_search=self.web_search,
            answer_files=tuple(answer_files),
        )
