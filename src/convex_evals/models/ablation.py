"""Ablation: what is a section of the guidelines worth? Ask with all of them, and without each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from convex_evals.core.errors import UsageError
from convex_evals.models.experiments import Experiment
from convex_evals.models.pricing import count_tokens

VariantKind = Literal["all", "without", "none"]


@dataclass(frozen=True, slots=True)
class Variant:
    """`tokens` is roughly how long the part is that is left out."""

    kind: VariantKind
    experiment: Experiment
    section: str | None = None
    tokens: int = 0


def plan_variants(experiment: Experiment, sections: Sequence[str] = ()) -> tuple[Variant, ...]:
    """With everything first, then without each section (of all, or of the chosen ones), then without anything.

    Raises UsageError when there are no guidelines, or no such section.
    """
    guidelines = experiment.read_guidelines()
    if guidelines is None:
        raise UsageError(f"The experiment {experiment.name} has no guidelines, so there are no sections to leave out.")
    texts = {section.title: section.text for section in guidelines.sections}
    chosen = tuple(dict.fromkeys(sections)) or tuple(texts)
    if not chosen:
        raise UsageError(f"{guidelines.name} has no sections; they begin with an h2 heading, as in ## Queries.")
    for title in chosen:
        guidelines.without(title)  # says which sections there are
    return (
        Variant("all", experiment),
        *(Variant("without", experiment.without_section(title), title, count_tokens(texts[title])) for title in chosen),
        Variant("none", experiment.without_guidelines(), None, count_tokens(guidelines.text)),
    )
