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
    """`guidelines` are ours, none, or a file, less the sections `without`. `source` is the file it is configured in."""

    name: str
    description: str = ""
    guidelines: Literal["built-in", "none"] | Path = BUILT_IN
    delivery: Delivery = "prompt"
    web_search: bool = False
    source: Path | None = None
    without: tuple[str, ...] = ()

    def with_guidelines(self, path: Path) -> Self:
        """The experiment with a user's own guidelines, under a name of its own, since its results are others."""
        if self.guidelines == NO_GUIDELINES:
            raise UsageError(f"The experiment {self.name} has no guidelines, so --guidelines {path} contradicts it.")
        prefix = "" if self.name == "default" else f"{self.name}_"
        name = f"{prefix}guidelines_{_word(path.stem) or 'custom'}"
        return replace(self, name=name, guidelines=path, description=f"Guidelines from {path}.")

    def without_section(self, title: str) -> Self:
        """The experiment with one section of its guidelines left out."""
        return replace(self, name=f"{self.name}_without_{_word(title)}", without=(*self.without, title))

    def without_guidelines(self) -> Self:
        name = f"{self.name}_without_guidelines"
        return replace(self, name=name, guidelines=NO_GUIDELINES, delivery="prompt", without=())

    def read_guidelines(self) -> Guidelines | None:
        """Raises UsageError."""
        if self.guidelines == NO_GUIDELINES:
            return None
        read = read_guidelines(self.guidelines) if isinstance(self.guidelines, Path) else built_in_guidelines()
        for title in self.without:
            read = read.without(title)
        return read

    def prompt_settings(self, answer_files: Sequence[str] = ("**/*",)) -> PromptSettings:
        """What its prompts are made of. `answer_files` are the suite's globs. Raises UsageError."""
        return PromptSettings(
            guidelines=self.read_guidelines(),
            delivery=self.delivery,
            web_search=self.web_search,
            answer_files=tuple(answer_files),
        )


def _word(text: str) -> str:
    """As a part of a name."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
