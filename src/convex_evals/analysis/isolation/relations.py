"""Which pieces of the reference need each other, and which differences mean nothing."""

import json
import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any, Final

from convex_evals.analysis.isolation.patch import Patch
from convex_evals.analysis.isolation.units import WHOLE
from convex_evals.pipeline.grading.kit import Import

SCHEMA: Final = "convex/schema.ts"
_INDEX: Final = re.compile(r"\.(?:index|searchIndex|vectorIndex)\(\s*[\"'](\w+)[\"']")
_EXPORTED: Final = re.compile(r"^export\b", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_INDIFFERENT: Final = frozenset({"README.md", "package-lock.json", "tsconfig.json", "bun.lock", "bun.lockb"})


def is_exported(patch: Patch) -> bool:
    """Or otherwise more than a piece that other pieces of its file use."""
    if patch.model is not None or patch.expected is None or patch.key == WHOLE:
        return True
    return _EXPORTED.search(patch.expected.text) is not None


def needs(patch: Patch, other: Patch, imports: Collection[Import]) -> bool:
    """Whether code of `patch` uses what `other` adds: a declaration of its file, or of a file it imports."""
    if other.model is not None or patch.expected is None:
        return False
    words = set(_WORD.findall(patch.expected.text))
    if other.file == patch.file:
        return bool(words.intersection(other.key.split(", ")))
    for each in imports:
        if each.alias in words and _target(patch.file, each.source) == _stem(other.file):
            return other.key in (WHOLE, each.name)
    return False


def needs_index(patch: Patch, other: Patch, model: Mapping[str, str]) -> bool:
    """Whether code of `patch` names an index that only the schema of the reference has."""
    if other.file != SCHEMA or patch.file == SCHEMA or other.expected is None or patch.expected is None:
        return False
    added = set(_INDEX.findall(other.expected.text)) - set(_INDEX.findall(model.get(SCHEMA, "")))
    return any(f'"{name}"' in patch.expected.text for name in added)


def is_indifferent(path: str, model: Mapping[str, str], expected: Mapping[str, str]) -> bool:
    """What has no effect on a verdict: a README, a lock, a name in package.json, a tsconfig that is assumed anyway."""
    name = PurePosixPath(path).name
    if name == "package.json" and path in model and path in expected:
        return bool(_dependencies(model[path]) == _dependencies(expected[path]))
    return name in _INDIFFERENT and path not in model


def _dependencies(text: str) -> Any:
    try:
        content = json.loads(text)
    except ValueError:
        return text
    if not isinstance(content, dict):
        return text
    return content.get("dependencies"), content.get("devDependencies"), content.get("type")


def _target(file: str, source: str) -> str:
    if not source.startswith("."):
        return source
    return _stem(normpath(f"{PurePosixPath(file).parent.as_posix()}/{source}"))


def _stem(path: str) -> str:
    return re.sub(r"\.[cm]?[jt]sx?$", "", path)
