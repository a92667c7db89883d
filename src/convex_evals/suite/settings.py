"""`suite.json`: what holds for every eval of a suite."""

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from convex_evals.suite.json_files import describe, read_object, unknown_keys
from convex_evals.suite.problems import BrokenError, Problem

FILE_NAME = "suite.json"
EXAMPLE = '{"packagesBefore": "2026-11-01", "answerFiles": ["**/*"]}'
KNOWN_KEYS = frozenset({"packagesBefore", "answerFiles"})


@dataclass(frozen=True)
class SuiteSettings:
    packages_before: date | None = None
    """Packages published on or after this day are not installed."""
    answer_files: tuple[str, ...] = ("**/*",)
    """Globs of the files a model may write."""


@dataclass(frozen=True)
class ReadSettings:
    settings: SuiteSettings
    warnings: list[Problem]


def read_settings(path: Path) -> ReadSettings:
    value = read_object(path, EXAMPLE)
    settings = SuiteSettings(_packages_before(path, value), _answer_files(path, value))
    return ReadSettings(settings, unknown_keys(path, value, KNOWN_KEYS))


def _packages_before(path: Path, value: dict[str, object]) -> date | None:
    given = value.get("packagesBefore")
    if given is None:
        return None
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", given, re.ASCII):
        try:
            return date.fromisoformat(given)
        except ValueError:
            pass
    raise BrokenError(path, f"packagesBefore is {describe(given)}", 'write a day like "2026-11-01"')


def _answer_files(path: Path, value: dict[str, object]) -> tuple[str, ...]:
    given = value.get("answerFiles", ["**/*"])
    if isinstance(given, list) and given and all(_is_glob(item) for item in given):
        return tuple(given)
    raise BrokenError(path, f"answerFiles is {describe(given)}", 'write globs below the answer, like ["**/*"]')


def _is_glob(item: object) -> bool:
    if not isinstance(item, str) or not item.strip() or "\\" in item:
        return False
    glob = PurePosixPath(item)
    return not glob.is_absolute() and ".." not in glob.parts
