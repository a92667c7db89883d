"""One run of a Python grader: what its process is told."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.pipeline.grading.types import BuiltApp, GradedDeployment

_PATHS: Final = ("grader", "suite", "imports", "report", "log", "home", "chromium", "files")


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
        return json.dumps(asdict(self), default=str)

    @classmethod
    def loads(cls, text: str) -> "Job":
        content: dict[str, Any] = json.loads(text)
        paths = {name: _path(content[name]) for name in _PATHS}
        deployments = {name: _deployment(content[name]) for name in ("project", "answer")}
        return cls(**{**content, **paths, **deployments, "site": _site(content["site"])})


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _site(content: dict[str, str] | None) -> BuiltApp | None:
    return None if content is None else BuiltApp(Path(content["folder"]), content["broken"], content["crashed"])


def _deployment(content: dict[str, str] | None) -> GradedDeployment | None:
    return None if content is None else GradedDeployment(**content)
