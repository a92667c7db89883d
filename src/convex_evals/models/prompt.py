"""The prompt of one eval, made from a template. Rendering is pure: the same values give the same text.

The template is one text file with a version, a part per role, and places where values go:

{{name}}                      the value, as it is
{{#name}} … {{/name}}         lines that are there only if the value is
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final, Literal, Self

from convex_evals.core.distribution import checkout_root, package_folder
from convex_evals.core.errors import UsageError
from convex_evals.core.toolchain import toolchain_packages
from convex_evals.models.responses import read_block, read_fence, render_block
from convex_evals.suite import Entry, Eval, Given, fingerprint, fingerprint_entry, read_given

NAME: Final = "convex.md"
_SECTION: Final = re.compile(r"##[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$")
_VERSION: Final = re.compile(r"<!-- version: (?P<version>\d+) -->\n")
_ROLE: Final = re.compile(r"^<!-- (?P<role>system|user) -->\n", re.MULTILINE)
_CONDITION: Final = re.compile(
    r"^\{\{#(?P<name>\w+)\}\}\n(?P<lines>.*?)^\{\{/(?P=name)\}\}\n", re.MULTILINE | re.DOTALL
)
_PLACE: Final = re.compile(r"\{\{(?P<name>\w+)\}\}")

Values = Mapping[str, str]
NOTHING_GIVEN: Final = Given()


@dataclass(frozen=True, slots=True)
class Section:
    """An h2 heading and what stands below it."""

    title: str
    text: str  # with the heading


@dataclass(frozen=True, slots=True)
class Guidelines:
    """`name` is where the text comes from: a file name, or a file name and what was left out of it."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def introduction(self) -> str:
        """What stands before the first section."""
        return self._parts()[0]

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(Section(_title(part.partition("\n")[0]) or "", part) for part in self._parts()[1:])

    def without(self, title: str) -> Self:
        """The same text less one section. Raises UsageError when there is no such section."""
        kept = [section.text for section in self.sections if section.title != title]
        if len(kept) == len(self.sections):
            known = ", ".join(section.title for section in self.sections)
            raise UsageError(f"{self.name} has no section {title!r}; it has: {known}.")
        return type(self)(f"{self.name} without {title}", "".join([self.introduction, *kept]))

    def _parts(self) -> list[str]:
        """The text cut before every h2 heading; put together again they are the text."""
        lines, parts, number = self.text.split("\n"), [""], 0
        while number < len(lines):
            fence = read_fence(lines[number])
            after = read_block(lines, number, fence, nests=False).after if fence else number + 1
            if _title(lines[number]):
                parts.append("")
            parts[-1] += "".join(f"{line}\n" for line in lines[number:after])
            number = after
        parts[-1] = parts[-1].removesuffix("\n")
        return parts


def _title(line: str) -> str | None:
    match = _SECTION.match(line)
    return match["title"] if match else None


@cache
def built_in_guidelines() -> Guidelines:
    root = checkout_root()
    folder = root / "guidelines" if root else package_folder() / "_guidelines"
    return Guidelines(NAME, (folder / NAME).read_text(encoding="utf-8"))


def read_guidelines(path: Path) -> Guidelines:
    """A user's own. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"The guidelines {path} cannot be read: {reason}.") from error
    if not text.strip():
        raise UsageError(f"The guidelines {path} are empty; to ask without any, choose the experiment no_guidelines.")
    return Guidelines(path.name, text)


@dataclass(frozen=True, slots=True)
class Template:
    """`sha256` is that of the whole file: any change to it is another prompt."""

    version: int
    system: str
    user: str
    sha256: str

    def fill_system(self, values: Values) -> str:
        return _fill(self.system, values)

    def fill_user(self, values: Values) -> str:
        return _fill(self.user, values)


@cache
def built_in_template() -> Template:
    return parse_template((files("convex_evals.models") / "template.md").read_text(encoding="utf-8"))


def parse_template(text: str) -> Template:
    version = _VERSION.match(text)
    parts = _ROLE.split(text[version.end() :]) if version else []
    if version is None or [part.strip() for part in parts[:2]] != ["", "system"] or parts[3::2] != ["user"]:
        raise UsageError(
            "A prompt template must begin with <!-- version: N -->, and then have <!-- system --> and <!-- user -->, "
            "each once and on a line of its own."
        )
    return Template(int(version["version"]), parts[2], parts[4], hashlib.sha256(text.encode()).hexdigest())


def _fill(text: str, values: Values) -> str:
    """Values are put in last and in one go, so nothing in a value is ever taken for a part of the template."""
    shown = _CONDITION.sub(lambda match: match["lines"] if values[match["name"]] else "", text)
    return _PLACE.sub(lambda match: values[match["name"]], shown).strip() + "\n"


NAMED: Final = ("convex", "typescript", "@types/node", "react", "react-dom", "@types/react", "@types/react-dom")


@cache
def known_packages() -> dict[str, str]:
    """By name, in a fixed order."""
    dependencies = json.loads(toolchain_packages().manifest)["dependencies"]
    return {name: str(dependencies[name]) for name in NAMED}


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


def render_prompt(task: str, settings: PromptSettings, given: Given = NOTHING_GIVEN) -> Prompt:
    values = {"task": task.strip(), **_given_values(given), **_shared_values(settings)}
    return Prompt(settings.template.fill_system(values), settings.template.fill_user(values))


TASK_HEADING: Final = "\n# Task\n\n"


def task_in(prompt: str) -> str | None:
    """The task of a prompt as it is kept; recorded models are sent nothing else. None when it cannot be told."""
    _, heading, task = prompt.rpartition(TASK_HEADING)
    if not heading:
        return None if not task.strip() or "<!-- user -->" in task else task.strip()
    return task.strip()


def prompt_for(asked: Eval, settings: PromptSettings) -> Prompt:
    """What a model is sent about an eval."""
    return render_prompt(asked.task, settings, read_given(asked))


def _given_values(given: Given) -> dict[str, str]:
    """Each file is shown as the model is asked to write files."""
    blocks = (
        f"## {path}\n\n{render_block(text, PurePosixPath(path).suffix[1:])}" for path, text in given.files.items()
    )
    return {
        "folder": "a folder that has the files of an existing project" if given else "an empty folder",
        "given": "\n".join(blocks).strip(),
        "may_change": ", ".join(f"`{glob}`" for glob in given.may_change) if given.is_restricted else "",
        "only_additions": "" if given.may_change else "yes",
    }


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


def prompt_fingerprint(settings: PromptSettings) -> str:
    """Of everything a model is sent but the task, which the content fingerprint of an eval has.

    Entries: `template`, `guidelines` if there are any, and `settings`, the prompt as it is for an empty task.
    """
    entries = [Entry(settings.template.sha256, "template")]
    if settings.guidelines is not None:
        entries.append(Entry(settings.guidelines.sha256, "guidelines"))
    entries.append(fingerprint_entry("settings", render_prompt("", settings).text.encode()))
    return fingerprint(entries)
