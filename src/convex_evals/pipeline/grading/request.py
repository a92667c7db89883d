"""All that one run of a grader needs to know."""

from dataclasses import dataclass
from pathlib import Path

from convex_evals.pipeline.grading.types import GradedDeployment
from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import Eval, Grader


@dataclass(frozen=True, slots=True)
class GraderRequest:
    """`files` is the model's project; `private` is a folder that neither it nor the grader's tests know about."""

    eval: Eval
    grader: Grader
    project: GradedDeployment | None
    answer: GradedDeployment | None
    files: Path
    private: Path
    home: Path
    options: GradingOptions

    @property
    def shared(self) -> Path | None:
        """The folder that holds the suite's own `grader/`: beside the categories, or one level up."""
        suite = self.eval.path.parent.parent
        return next((folder for folder in (suite, suite.parent) if (folder / "grader").is_dir()), None)
