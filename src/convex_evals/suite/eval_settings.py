"""What an eval says about itself in `eval.json`: how it is graded, which given files may change, and its tags."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final, TypeGuard

from convex_evals.suite.files import (
    BrokenError,
    Entry,
    Problem,
    describe,
    fingerprint_entry,
    read_bytes,
    read_object,
    unknown_keys,
)

EVAL_JSON: Final = "eval.json"
LINT_OFF: Final = "lintOff"
MAY_CHANGE: Final = "mayChange"
TAGS: Final = "tags"
KEYS: Final = frozenset({"pipeline", LINT_OFF, MAY_CHANGE, TAGS})
EVERYTHING: Final = ("**/*",)
EXAMPLE: Final = '{"pipeline": "static"}'
TAGS_EXAMPLE: Final = '{"concepts": ["contention"], "difficulty": {"level": "hard", "source": "calibration"}}'
_TAG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Pipeline(StrEnum):
    """How an answer is graded."""

    FULL = "full"
    STATIC = "static"


class Difficulty(StrEnum):
    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class DifficultySource(StrEnum):
    """Who says how difficult an eval is: its author, or blind attempts at it."""

    AUTHOR = "author"
    CALIBRATION = "calibration"


@dataclass(frozen=True, slots=True)
class Tags:
    """What an eval is about and how difficult it is, to choose and group evals by."""

    concepts: tuple[str, ...] = ()
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them as words: concepts, then the difficulty."""
        return (*self.concepts, *([self.difficulty.value] if self.difficulty else []))


@dataclass(frozen=True, slots=True)
class EvalSettings:
    pipeline: Pipeline = Pipeline.FULL
    lint_off: tuple[str, ...] = ()
    """Lint rules that do not count in this eval."""
    may_change: tuple[str, ...] = EVERYTHING
    """Globs of the given files that an answer may change or delete."""
    tags: Tags = Tags()


@dataclass(frozen=True, slots=True)
class ReadSettings:
    settings: EvalSettings
    entries: list[Entry]
    """For the fingerprint of the grader."""
    warnings: list[Problem]


def read_eval_settings(path: Path) -> ReadSettings:
    """`path` is the file, if there is one. Raises BrokenError."""
    value = read_object(path, EXAMPLE)
    settings = EvalSettings(
        _pipeline(path, value), _lint_off(path, value), _may_change(path, value), _tags(path, value)
    )
    return ReadSettings(settings, _entries(path, value), unknown_keys(path, value, KEYS))


def _entries(path: Path, value: dict[str, object]) -> list[Entry]:
    """Tags change no verdict, so they are not part of it: without any, the file counts as it is."""
    if TAGS not in value:
        return [fingerprint_entry(EVAL_JSON, read_bytes(path))]
    rest = {key: each for key, each in value.items() if key != TAGS}
    return [fingerprint_entry(EVAL_JSON, json.dumps(rest, sort_keys=True).encode())] if rest else []


def _pipeline(path: Path, value: dict[str, object]) -> Pipeline:
    given = value.get("pipeline", Pipeline.FULL)
    if given not in list(Pipeline):
        choices = " or ".join(f'"{choice}"' for choice in Pipeline)
        raise BrokenError(path, f"names the unknown pipeline {describe(given)}", f"write {choices}")
    return Pipeline(str(given))


def _lint_off(path: Path, value: dict[str, object]) -> tuple[str, ...]:
    rules = value.get(LINT_OFF, [])
    if not _are_texts(rules):
        fix = f'write the names of rules, as in {{"{LINT_OFF}": ["@typescript-eslint/no-explicit-any"]}}'
        raise BrokenError(path, f"has {describe(rules)} as {LINT_OFF}", fix)
    return tuple(rules)


def _may_change(path: Path, value: dict[str, object]) -> tuple[str, ...]:
    globs = value.get(MAY_CHANGE, list(EVERYTHING))
    if not _are_texts(globs) or not all(map(is_glob, globs)):
        fix = f'write globs of given files, as in {{"{MAY_CHANGE}": ["convex/tasks.ts"]}}'
        raise BrokenError(path, f"has {describe(globs)} as {MAY_CHANGE}", fix)
    return tuple(globs)


def _tags(path: Path, value: dict[str, object]) -> Tags:
    given = value.get(TAGS, {})
    try:
        if not isinstance(given, dict) or given.keys() - {"concepts", "difficulty"}:
            raise ValueError
        concepts = given.get("concepts", [])
        if not _are_texts(concepts) or not all(_TAG.fullmatch(each) for each in concepts):
            raise ValueError
        difficulty = given.get("difficulty")
        if difficulty is None:
            return Tags(tuple(concepts))
        source = DifficultySource(difficulty["source"])
        return Tags(tuple(concepts), Difficulty(difficulty["level"]), source)
    except (ValueError, TypeError, KeyError) as error:
        raise BrokenError(path, f"has {describe(given)} as {TAGS}", f"write them like {TAGS_EXAMPLE}") from error


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)


def is_glob(item: object) -> bool:
    """Whether it can match a file below a folder."""
    if not isinstance(item, str) or not item.strip() or "\\" in item:
        return False
    glob = PurePosixPath(item)
    return not glob.is_absolute() and ".." not in glob.parts
