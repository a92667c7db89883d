"""The prompt of one eval. Rendering is pure: the same values give the same text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from convex_evals.models.parsing import render_block
from convex_evals.models.prompt.guidelines import Guidelines
from convex_evals.models.prompt.packages import known_packages
from convex_evals.models.prompt.template import Template, built_in_template

Delivery = Literal["prompt", "agents_md"]
"""How guidelines reach a model: as a part of the prompt, or as the AGENTS.md that a project has."""


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """What all prompts of a run share."""

    guidelines: Guidelines | None = None
    delivery: Delivery = "prompt"
    web_search: bool = False
    answer_files: Sequence[str] = ("**/*",)
    packages: Mapping[str, str] = field(default_factory=known_packages)
    template: Template = field(default_factory=built_in_template)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, by role."""

    system: str
    user: str

    @property
    def text(self) -> str:
        """Both parts as they are kept and shown."""
        return f"<!-- system -->\n{self.system}<!-- user -->\n{self.user}"


def render_prompt(task: str, settings: PromptSettings) -> Prompt:
    values = {"task": task.strip(), **_shared_values(settings)}
    return Prompt(settings.template.fill_system(values), settings.template.fill_user(values))


def _shared_values(settings: PromptSettings) -> dict[str, str]:
    guidelines = settings.guidelines.text.strip() if settings.guidelines else ""
    globs = () if tuple(settings.answer_files) == ("**/*",) else settings.answer_files
    return {
        "guidelines": guidelines if not _is_agents_md(settings) else "",
        "agents_md": render_block(guidelines, "markdown").strip() if _is_agents_md(settings) else "",
        "packages": "\n".join(f"  - `{name}` {version}" for name, version in settings.packages.items()),
        "answer_files": ", ".join(f"`{glob}`" for glob in globs),
        "web_search": "yes" if settings.web_search else "",
    }


def _is_agents_md(settings: PromptSettings) -> bool:
    return settings.guidelines is not None and settings.delivery == "agents_md"
