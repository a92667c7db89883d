"""One eval: a task, its reference answer and the grader that tells right from wrong."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from convex_evals.suite.fingerprints import EvalFingerprints


class Pipeline(StrEnum):
    """How an answer is graded."""

    FULL = "full"
    STATIC = "static"


class GraderKind(StrEnum):
    PYTEST = "pytest"
    VITEST = "vitest"


@dataclass(frozen=True)
class Grader:
    kind: GraderKind
    path: Path


@dataclass(frozen=True)
class Eval:
    category: str
    name: str
    path: Path
    task: str
    pipeline: Pipeline
    grader: Grader | None
    gaps: str | None
    fingerprints: EvalFingerprints

    @property
    def id(self) -> str:
        """`category/name`, as it stands in tables, filters and results."""
        return f"{self.category}/{self.name}"

    @property
    def answer(self) -> Path:
        """The folder of the reference answer."""
        return self.path / "answer"
