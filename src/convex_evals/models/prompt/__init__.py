"""What a model is asked, word for word."""

from convex_evals.models.prompt.guidelines import Guidelines, built_in_guidelines, read_guidelines
from convex_evals.models.prompt.prompt import (
    Delivery,
    Prompt,
    PromptSettings,
    Template,
    built_in_template,
    known_packages,
    parse_template,
    prompt_fingerprint,
    prompt_for,
    render_prompt,
    task_in,
)

__all__ = [
    "Delivery",
    "Guidelines",
    "Prompt",
    "PromptSettings",
    "Template",
    "built_in_guidelines",
    "built_in_template",
    "known_packages",
    "parse_template",
    "prompt_fingerprint",
    "prompt_for",
    "read_guidelines",
    "render_prompt",
    "task_in",
]
