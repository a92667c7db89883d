"""Experiments by name: ours, and those in the user's ./experiments.toml, which may also replace ours."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, cast

from convex_evals.core.errors import UsageError
from convex_evals.models.experiments.experiment import BUILT_IN, NO_GUIDELINES, Experiment
from convex_evals.models.prompt import Delivery
from convex_evals.models.toml_file import TomlTable, read_toml

DEFAULT: Final = "default"
FILE: Final = "experiments.toml"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_DELIVERIES: Final = ("prompt", "agents_md")


def find_experiment(name: str | None, folder: Path | None = None) -> Experiment:
    """The experiment of this name, `default` if there is none. Raises UsageError."""
    experiments = load_experiments(folder)
    found = experiments.get(name or DEFAULT)
    if found is None:
        raise UsageError(f"There is no experiment {name!r}; there are: {', '.join(experiments)}.")
    return found


def load_experiments(folder: Path | None = None) -> dict[str, Experiment]:
    """By name, ours first. `folder`, the working folder unless given, is where the user's file is looked for."""
    experiments = _ours()
    path = (folder or Path.cwd()) / FILE
    if path.is_file():
        experiments |= _read(read_toml(path))
    return experiments


def _ours() -> dict[str, Experiment]:
    source = files("convex_evals.models.experiments") / FILE
    return _read(read_toml(Path(FILE), source.read_text(encoding="utf-8")))


def _read(file: TomlTable) -> dict[str, Experiment]:
    return {name: _experiment(name, table) for name, table in file.tables()}


def _experiment(name: str, table: TomlTable) -> Experiment:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{table.where} must have a name of small letters, digits, _ and -.")
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
