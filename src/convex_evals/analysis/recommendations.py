"""What should change: evals, lint and tools, the model's instructions, or nothing."""

from collections.abc import Iterator, Sequence

from convex_evals.analysis.patterns import title_of
from convex_evals.analysis.report.types import FailureReport, Recommendations, Report
from convex_evals.core.text import count, listed
from convex_evals.core.verdicts import CLASSES


def recommend(failures: Sequence[FailureReport]) -> Recommendations:
    return Recommendations(
        evals=tuple(_evals(failures)),
        lint=tuple(_lint(failures)),
        model=tuple(_model(failures)),
        none=tuple(dict.fromkeys(each.eval for each in failures if _is_clear(each))),
    )


def overall(failures: Sequence[FailureReport]) -> str:
    """The run in one sentence."""
    if not failures:
        return "Nothing failed, so there is nothing to weigh."
    faults = sum(each.failure_class == "MODEL_FAULT" for each in failures)
    share = faults / len(failures)
    if share == 1:
        return "Every failure is the model's own: the suite needs no change to judge this run."
    if share == 0:
        return "No failure is clearly the model's own: the suite should be corrected before this run is trusted."
    weight = (
        "Most failures are the model's own" if share > 0.5 else "At most half of the failures are clearly the model's"
    )
    rest = "the rest would go away with better tasks, graders, lint rules or tools"
    return f"{weight} ({faults} of {len(failures)}); {rest}."


def _evals(failures: Sequence[FailureReport]) -> Iterator[str]:
    for each in failures:
        if each.failed_step == "eslint":
            continue
        if each.failure_class == "OVERLY_STRICT":
            yield f"{each.eval}: state in TASK.txt what the grader demands, or relax it. {each.classification.summary}"
        elif each.failure_class == "AMBIGUOUS_TASK":
            yield f"{each.eval}: say in TASK.txt which reading is meant. {each.classification.summary}"
        elif each.failure_class == "KNOWN_GAP":
            yield f"{each.eval}: close the gap that GAPS.txt describes. {each.classification.summary}"


def _lint(failures: Sequence[FailureReport]) -> Iterator[str]:
    """Rules that reject answers which are not at fault, and failures that nobody can explain."""
    unfair = [each for each in failures if each.failed_step == "eslint" and each.failure_class != "MODEL_FAULT"]
    rules = dict.fromkeys(cause for each in unfair for cause in each.causes if cause.startswith("lint:"))
    for rule in rules:
        evals = listed(each.eval for each in unfair if rule in each.causes)
        yield f"{title_of(rule)}: a narrow exception, or a word about it in the tasks ({evals})."
    silent = [each.eval for each in failures if not each.fingerprints]
    if silent:
        failed = count(len(silent), "failure")
        yield f"{failed} without a usable message: keep the complete output of the step ({listed(silent)})."


def _model(failures: Sequence[FailureReport]) -> Iterator[str]:
    """Each mistake once, with what is right where that is known."""
    faults = [each for each in failures if each.failure_class == "MODEL_FAULT"]
    seen: set[str] = set()
    for each in faults:
        first = each.causes[0] if each.causes else ""
        if first and first not in seen:
            seen.add(first)
            others = [other.eval for other in faults if first in other.causes]
            yield f"{title_of(first)} ({listed(name.partition('/')[2] for name in others)})."


def _is_clear(failure: FailureReport) -> bool:
    return failure.failure_class == "MODEL_FAULT"


def summary_of(report: Report) -> str:
    """One line about a whole report."""
    counted = [f"{number} {name}" for name in CLASSES if (number := report.count(name))]
    return f"{count(len(report.failures), 'failure')}: {listed(counted)}." if counted else "Nothing failed."
