"""What came out of checking one eval: is every answer judged as it must be?"""

from dataclasses import dataclass

from convex_evals.controls.judging import Judged
from convex_evals.controls.survival import Survival
from convex_evals.suite import Eval, Problem


@dataclass(frozen=True, slots=True)
class Findings:
    """`problems` are control files that are none. `mutants` is None when none were made."""

    eval: Eval
    reference: Judged
    empty: Judged
    wrong: tuple[Judged, ...]
    alternatives: tuple[Judged, ...]
    problems: tuple[Problem, ...] = ()
    mutants: Survival | None = None

    @property
    def judged(self) -> tuple[Judged, ...]:
        """All answers whose verdict was known beforehand."""
        return (self.reference, self.empty, *self.wrong, *self.alternatives)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        return (*self.problems, *(self.mutants.problems if self.mutants else ()))

    @property
    def ok(self) -> bool:
        """Survivors are not in it: the share of mutants is judged over all evals together."""
        return not self.all_problems and all(each.ok for each in self.judged)

    @property
    def has_mistakes(self) -> bool:
        """Whether something is wrong for certain, and not only without a verdict."""
        return bool(self.all_problems) or any(not each.ok and not each.without_verdict for each in self.judged)

    @property
    def without_verdict(self) -> bool:
        mutants = self.mutants.without_verdict if self.mutants else ()
        return bool(mutants) or any(each.without_verdict for each in self.judged)
