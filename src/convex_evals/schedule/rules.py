"""The rules of a schedule: `[schedule]` in convex-evals.toml, and what holds where it says nothing."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from convex_evals.core.errors import UsageError
from convex_evals.core.toml_file import TomlTable, read_toml

_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class ModelRule:
    """Says otherwise for some models. None and empty: as for all."""

    models: tuple[str, ...]  # patterns such as openai/*
    every: timedelta | None = None
    experiments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """How often models are run, and what may be spent. Amounts are US dollars."""

    models: tuple[str, ...] = ("*",)
    skip: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ("default",)
    every: timedelta = timedelta(days=7)
    cool_down: timedelta = timedelta(hours=6)
    runs_per_tick: int = 3
    budget_per_tick: float = 20.0
    budget_per_month: float = 300.0
    assumed_cost: float = 5.0
    exceptions: tuple[ModelRule, ...] = ()

    def includes(self, model: str) -> bool:
        return _matches(model, self.models) and not _matches(model, self.skip)

    def of(self, model: str) -> ModelRule:
        """What holds for one model; the first exception that names it wins."""
        found = next((each for each in self.exceptions if _matches(model, each.models)), ModelRule((model,)))
        return replace(found, every=found.every or self.every, experiments=found.experiments or self.experiments)


def read_rules(project_file: Path | None) -> Rules:
    """The defaults where there is no file, or no [schedule] in it. Raises UsageError."""
    if project_file is None:
        return Rules()
    table = read_toml(project_file).table("schedule")
    return Rules() if table is None else _rules(table)


def _rules(table: TomlTable) -> Rules:
    default = Rules()
    rules = Rules(
        models=table.texts("models") or default.models,
        skip=table.texts("skip"),
        experiments=table.texts("experiments") or default.experiments,
        every=_duration(table, "every") or default.every,
        cool_down=_duration(table, "cool_down") or default.cool_down,
        runs_per_tick=table.whole_number("runs_per_tick") or default.runs_per_tick,
        budget_per_tick=_either(table.amount("budget_per_tick"), default.budget_per_tick),
        budget_per_month=_either(table.amount("budget_per_month"), default.budget_per_month),
        assumed_cost=_either(table.amount("assumed_cost"), default.assumed_cost),
        exceptions=tuple(_exception(each) for each in table.list_of_tables("rule")),
    )
    table.finish()
    return rules


def _exception(table: TomlTable) -> ModelRule:
    rule = ModelRule(table.texts("models"), _duration(table, "every"), table.texts("experiments"))
    if not rule.models:
        raise UsageError(f"{table.where} needs 'models', as in models = [\"openai/*\"].")
    table.finish()
    return rule


def _duration(table: TomlTable, key: str) -> timedelta | None:
    text = table.text(key)
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,3})([hdw])", text)
    if found is None:
        raise UsageError(
            f"{table.where} has {key} = {text!r}, which must be hours, days or weeks, as in 12h, 7d or 2w."
        )
    return int(found[1]) * _UNITS[found[2]]


def _either(given: float | None, default: float) -> float:
    return default if given is None else given


def _matches(model: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in patterns)
