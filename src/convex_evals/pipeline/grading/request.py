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
    def suite(self) -> Path:
        """The folder of the categories."""
        return self.eval.path.parent.parent

    @property
    def shared(self) -> Path | None:
        """The folder that holds the suite's own `grader/`: beside the categories, or one level up."""
        return next((each for each in (self.suite, self.suite.parent) if (each / "grader").is_dir()), None)
