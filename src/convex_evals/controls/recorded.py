"""What an earlier `controls --json` found, read back for pages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

FILE: Final = "controls.json"


@dataclass(frozen=True, slots=True)
class Caught:
    """Of answers that must fare in a certain way, how many did."""

    right: int
    total: int


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """One eval. `mutants` is None when none were made; `survivors` are places that nobody checks."""

    eval: str
    ok: bool
    reference: str
    empty: str
    wrong: Caught
    alternatives: Caught
    mutants: Caught | None
    survivors: tuple[str, ...]
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordedControls:
    checks: Mapping[str, RecordedCheck]
    at: datetime


def read_recorded(path: Path) -> RecordedControls | None:
    """None when there is no such file, or it is something else."""
    try:
        found = json.loads(path.read_bytes())
        checks = [_check(each) for each in found["evals"]]
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return RecordedControls({each.eval: each for each in checks}, changed)


def _check(found: Mapping[str, Any]) -> RecordedCheck:
    mutants = found["mutants"]
    return RecordedCheck(
        found["eval"],
        found["ok"],
        found["reference"],
        found["empty"],
        _caught(found["wrong"]),
        _caught(found["alternatives"]),
        None if mutants is None else Caught(mutants["killed"], mutants["total"]),
        () if mutants is None else tuple(f"{each['file']}:{each['line']}" for each in mutants["survivors"]),
        tuple(found["complaints"]),
    )


def _caught(judged: list[Mapping[str, Any]]) -> Caught:
    return Caught(sum(bool(each["ok"]) for each in judged), len(judged))
