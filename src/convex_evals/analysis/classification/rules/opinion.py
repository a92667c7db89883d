"""Complaints, and what a rule says about one of them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from convex_evals.analysis.classification.types import Fault
from convex_evals.analysis.counterfactuals import compares_declarations
from convex_evals.analysis.evidence import Evidence
from convex_evals.core.diagnostics import Diagnostic, comparison
from convex_evals.core.text import shortened

Kind = Literal["refused", "behaviour", "types", "declarations", "set-up", "lint", "unexplained"]
SEVERITY: Final[tuple[Kind, ...]] = ("refused", "behaviour", "types", "declarations", "set-up", "lint", "unexplained")
"""What a complaint is about, the worst first."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that the failed step said; `diagnostic` is empty when it said nothing."""

    kind: Kind
    diagnostic: Diagnostic

    @property
    def message(self) -> str:
        return self.diagnostic.message

    @property
    def said(self) -> str:
        """On one line."""
        compared = comparison(self.diagnostic, 60)
        own = self.message.strip().partition("\n")[0] if self.diagnostic.expected else self.message
        return compared or shortened(own) or "nothing that explains it"

    @property
    def place(self) -> str:
        return f"{self.diagnostic.place} {self.diagnostic.name or ''}".strip()


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one rule says about one complaint. `because` is the evidence that decided."""

    fault: Fault
    rule: str
    summary: str
    reasoning: str
    because: str
    cited: tuple[str, ...] = ()


Rule = Callable[[Complaint, Evidence], Opinion | None]
GRADERS_OWN: Final = re.compile(r"(?:^|/)grader(?:/|(?:\.\w+)+$)")
"""Paths of files that belong to the grader."""
"""Looks at one thing; None when it has nothing to say."""

# Types that a project has or has not, whatever code is in it.
SET_UP: Final = re.compile(
    r"Cannot find name '(?:process|Buffer|console|require|module|__dirname|fetch|Response|Request|setTimeout|Blob)'"
    r"|Cannot find type definition file for|Could not find a declaration file for module"
    r"|Option '[\w.]+' (?:is deprecated|has been removed|cannot be specified)|File '[^']*lib\.[\w.]+\.d\.ts' not found"
    r"|no interface 'JSX\.IntrinsicElements' exists|jsx-runtime"
)


def complaints_of(evidence: Evidence) -> tuple[Complaint, ...]:
    found = tuple(_complaints(evidence))
    return found or (Complaint("unexplained", Diagnostic(evidence.failed_step, evidence.error)),)


def _complaints(evidence: Evidence) -> Iterator[Complaint]:
    for each in evidence.failed_diagnostics:
        yield Complaint(_kind(each), each)


def _kind(each: Diagnostic) -> Kind:
    match each.step:
        case "tests":
            return "declarations" if compares_declarations(each) else "behaviour"
        case "eslint":
            return "lint"
        case "tsc":
            return "set-up" if SET_UP.search(each.message) else "types"
        case "deploy":
            return "set-up" if SET_UP.search(each.message) else "refused"
    return "refused"
