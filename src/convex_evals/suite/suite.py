"""A suite: the evals that could be loaded, and what is wrong with the others."""

from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.suite.eval import Eval
from convex_evals.suite.problems import Problem
from convex_evals.suite.settings import SuiteSettings


@dataclass(frozen=True)
class Suite:
    root: Path
    evals: tuple[Eval, ...]
    fingerprint: str
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    problems: tuple[Problem, ...] = ()
    """What kept an eval (or suite.json) from being loaded."""
    warnings: tuple[Problem, ...] = ()
    """What an author should know about evals that were loaded."""

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.category for each in self.evals))
