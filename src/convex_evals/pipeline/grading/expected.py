"""The tests a grader has, found without any answer in sight, once per version of the grader."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.files import write_file
from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.grading.report import Report


@dataclass(frozen=True, slots=True)
class Collection:
    """The names of all tests; or, with a run that did not come to name them, what it did instead."""

    names: tuple[str, ...]
    result: ProcessResult | None = None
    report: Report | None = None


async def expected_tests(cache: Path, fingerprint: str, collect: Callable[[], Awaitable[Collection]]) -> Collection:
    """From the cache, or collected now. Only a collection that found tests is kept."""
    file = cache / "graders" / f"{fingerprint}.json"
    if file.exists():
        return Collection(tuple(json.loads(file.read_bytes())))
    found = await collect()
    if found.names:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, json.dumps(found.names))
    return found
