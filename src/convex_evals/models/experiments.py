"""Experiments: the ways of asking that are compared. Configuration: ours, and the user's ./experiments.toml.

An ablation is a set of them: with all guidelines, and without each section, to see what a section is worth.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, Self, cast
from urllib.parse import urlsplit

from convex_evals.core.errors import UsageError
from convex_evals.core.toml_file import TomlTable, read_toml
from convex_evals.models.costs import count_tokens
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


DEFAULT_EXPERIMENT: Final = "default"
FILE: Final = "experiments.toml"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_DELIVERIES: Final = ("prompt", "agents_md")


def find_experiment(name: str | None, folder: Path | None = None, *, guidelines: Path | None = None) -> Experiment:
    """The experiment of this name, `default` if there is none, with these guidelines if any. Raises UsageError."""
    experiments = load_experiments(folder)
    found = experiments.get(name or DEFAULT_EXPERIMENT)
    if found is None:
        raise UsageError(f"There is no experiment {name!r}; there are: {', '.join(experiments)}.")
    return found if guidelines is None else found.with_guidelines(guidelines.absolute())


def load_experiments(folder: Path | None = None) -> dict[str, Experiment]:
    """By name, ours first. `folder`, the working folder unless given, is where the user's file is looked for."""
    experiments = _ours()
    path = (folder or Path.cwd()) / FILE
    if path.is_file():
        experiments |= _read(read_toml(path))
    return experiments


def _ours() -> dict[str, Experiment]:
    source = files("convex_evals.models") / FILE
    return _read(read_toml(Path(FILE), source.read_text(encoding="utf-8")))


def _read(file: TomlTable) -> dict[str, Experiment]:
    return {name: _experiment(name, table) for name, table in file.tables()}


def _experiment(name: str, table: TomlTable) -> Experiment:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{table.where} must have a name of lower-case letters, digits, _ and -.")
    experiment = Experiment(
        name=name,
        description=table.text("description") or "",
        guidelines=_guidelines(table),
        delivery=cast(Delivery, table.one_of("delivery", _DELIVERIES) or "prompt"),
        web_search=table.flag("web_search") or False,
        source=table.path,
    )
    table.finish()
    if experiment.guidelines == NO_GUIDELINES and experiment.delivery != "prompt":
        raise UsageError(f"{table.where} has no guidelines, so it must not have a delivery either.")
    return experiment


def _guidelines(table: TomlTable) -> Literal["built-in", "none"] | Path:
    """A file is named relative to the one that names it."""
    match table.text("guidelines"):
        case None | "built-in":
            return BUILT_IN
        case "none":
            return NO_GUIDELINES
        case name:
            return table.path.parent / name


_FIXED: Final = (BUILT_IN, NO_GUIDELINES)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """`base_url` is where `local/NAME` is served. With `cache_scope` the run uses only cached responses of its own."""

    experiment: Experiment = field(default_factory=lambda: Experiment(DEFAULT_EXPERIMENT))
    base_url: str | None = None
    cache_scope: str | None = None

    def __post_init__(self) -> None:
        if self.base_url is not None:
            _check_url(self.base_url)

    def prompt_settings(self, answer_files: Sequence[str] | None) -> PromptSettings:
        """Raises UsageError."""
        return self.experiment.prompt_settings(answer_files or ("**/*",))

    def as_json(self) -> dict[str, Any]:
        """For the record of the run; the experiment's name stands there already."""
        experiment = self.experiment
        guidelines = experiment.guidelines
        return {
            "guidelines": guidelines if guidelines in _FIXED else str(Path(guidelines).absolute()),
            "delivery": experiment.delivery,
            "webSearch": experiment.web_search,
            "without": list(experiment.without),
            "baseUrl": self.base_url,
            "cacheScope": self.cache_scope,
        }

    @classmethod
    def from_json(cls, experiment: str, recorded: Mapping[str, Any] | None) -> Self:
        """As it was; runs that were recorded before this was have nothing but the experiment's name."""
        if recorded is None:
            return cls(Experiment(experiment))
        guidelines = recorded["guidelines"]
        asked = Experiment(
            name=experiment,
            guidelines=guidelines if guidelines in _FIXED else Path(guidelines),
            delivery=cast(Delivery, recorded["delivery"]),
            web_search=bool(recorded["webSearch"]),
            without=tuple(recorded["without"]),
        )
        return cls(asked, recorded["baseUrl"], recorded["cacheScope"])


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = None, False
    if not usable:
        raise UsageError(f"--base-url must be a URL such as http://127.0.0.1:8080/v1, but it is {url!r}.")
    if parts is not None and "@" in parts.netloc:
        raise UsageError("--base-url must not have a user or a password in it, since it is recorded with the run.")


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
