"""What was chosen in the menu, as the command line that says the same."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from convex_evals.cli.main import PROGRAM
from convex_evals.cli.runs.options import RunOptions
from convex_evals.models import DEFAULT_EXPERIMENT


@dataclass(frozen=True, slots=True)
class Scope:
    """Which evals: all of them, unless something is given."""

    categories: Sequence[str] = ()
    names: Sequence[str] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class MenuSelection:
    models: Sequence[str]
    base_url: str | None = None
    experiment: str = DEFAULT_EXPERIMENT
    scope: Scope = Scope()
    trials: int = 1

    def options(self, *, dry_run: bool = False) -> RunOptions:
        return RunOptions(
            models=list(self.models),
            categories=list(self.scope.categories),
            names=list(self.scope.names),
            failed=self.scope.failed,
            experiment=self.experiment,
            base_url=self.base_url,
            trials=self.trials,
            dry_run=dry_run,
        )

    @property
    def command(self) -> str:
        """What to type to have the same without the menu."""
        words = [PROGRAM, "run"]
        for option, values in (("-m", self.models), ("-c", self.scope.categories), ("--name", self.scope.names)):
            words += [word for value in values for word in (option, value)]
        words += ["--failed"] if self.scope.failed else []
        words += ["-e", self.experiment] if self.experiment != DEFAULT_EXPERIMENT else []
        words += ["--base-url", self.base_url] if self.base_url is not None else []
        words += ["--trials", str(self.trials)] if self.trials > 1 else []
        return shlex.join(words)
