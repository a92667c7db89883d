"""One run of a Python grader: what its process is told."""

import json
from dataclasses import dataclass
from pathlib import Path

from convex_evals.core.plain import from_plain, to_plain
from convex_evals.pipeline.grading.types import BuiltApp, GradedDeployment


@dataclass(frozen=True, slots=True)
class Job:
    """With `collect_only` the tests are named, not run, and no deployment is needed."""

    grader: Path
    suite: Path
    imports: Path | None  # the folder whose packages the grader may import: the suite's shared `grader/`
    report: Path
    log: Path
    home: Path
    site: BuiltApp | None = None  # the web app, for graders that look at one
    chromium: Path | None = None  # None: there is no browser on this machine
    files: Path | None = None
    project: GradedDeployment | None = None
    answer: GradedDeployment | None = None
    test_seconds: float = 60.0
    grader_seconds: float = 300.0
    collect_only: bool = False

    @property
    def private(self) -> Path:
        """All that the grader may write to, besides `home`."""
        return self.report.parent

    @property
    def temporary(self) -> Path:
        """Gone with the grader, however that ends."""
        return self.private / "tmp"

    def dumps(self) -> str:
        return json.dumps(to_plain(self))

    @classmethod
    def loads(cls, text: str) -> "Job":
        return from_plain(cls, json.loads(text))
