"""What came out of checking one eval: is every answer judged as it must be?"""

from dataclasses import dataclass

from convex_evals.controls.judging import Judged
from convex_evals.suite import Eval, Problem


@dataclass(frozen=True, slots=True)
class Findings:
    """`problems` are control files that are none."""

    eval: Eval
    reference: Judged
    empty: Judged
    wrong: tuple[Judged, ...]
    alternatives: tuple[Judged, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def judged(self) -> tuple[Judged, ...]:
        """All answers whose verdict was known beforehand."""
        return (self.reference, self.empty, *self.wrong, *self.alternatives)

    @property
    def ok(self) -> bool:
        return not self.problems and all(each.ok for each in self.judged)

    @property
    def without_verdict(self) -> bool:
        return any(each.without_verdict for each in self.judged)
