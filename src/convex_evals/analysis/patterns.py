"""What several failures of one run have in common."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from convex_evals.analysis.report.types import FailureReport, Pattern
from convex_evals.core.text import count, listed

LEAST = 2


def find_patterns(failures: Sequence[FailureReport], runs_per_category: Counter[str]) -> tuple[Pattern, ...]:
    """Clusters by cause first, then what cuts across them; each with the evals it is about, the largest first."""
    clusters = [*_by_cause(failures), *_by_family(failures)]
    crossing = [*_gaps(failures), *_strict(failures), *_categories(failures, runs_per_category), *_repeats(failures)]
    return (*sorted(clusters, key=lambda each: -len(each.evals)), *crossing)


def _by_cause(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    """The same mistake, by its fingerprint. A failure counts in the largest cluster that it belongs to."""
    left = list(failures)
    while left:
        counted = Counter(cause for failure in left for cause in dict.fromkeys(failure.causes))
        cause, number = counted.most_common(1)[0] if counted else ("", 0)
        if number < LEAST:
            return
        together = [failure for failure in left if cause in failure.causes]
        left = [failure for failure in left if failure not in together]
        yield Pattern(title_of(cause), _about(together), _evals(together))


def _by_family(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    """APIs that do not exist, whichever they are."""
    invented = [failure for failure in failures if failure.causes and failure.causes[0].startswith("api:")]
    distinct = dict.fromkeys(failure.causes[0] for failure in invented)
    if len(distinct) >= LEAST:
        named = listed(cause.removeprefix("api:") for cause in distinct)
        yield Pattern(
            "The API surface is guessed", f"Answers use what the package does not have: {named}.", _evals(invented)
        )


def _gaps(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    known = [failure for failure in failures if failure.failure_class == "KNOWN_GAP"]
    if known:
        yield Pattern("Known gaps", "These are documented in GAPS.txt already.", _evals(known))


def _strict(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    strict = [failure for failure in failures if failure.failure_class in ("OVERLY_STRICT", "AMBIGUOUS_TASK")]
    if strict:
        yield Pattern("The eval asks for more than its task", "Graders and tasks do not agree here.", _evals(strict))


def _categories(failures: Sequence[FailureReport], runs: Counter[str]) -> Iterator[Pattern]:
    """A category that fails more than half of the time, when there is more than one."""
    failed = Counter(failure.eval.partition("/")[0] for failure in failures)
    for category, number in failed.items():
        if len(runs) > 1 and number >= 3 and 2 * number > runs[category]:
            affected = [failure for failure in failures if failure.eval.startswith(f"{category}/")]
            yield Pattern(
                f"{category} is hard", f"{number} of its {count(runs[category], 'result')} failed.", _evals(affected)
            )


def _repeats(failures: Sequence[FailureReport]) -> Iterator[Pattern]:
    repeated = [failure for failure in failures if failure.repeat]
    if repeated:
        cured = [failure for failure in repeated if failure.cure]
        detail = "They failed with the same cause in an earlier report"
        detail += f", {len(cured)} of them although something was done about it." if cured else "."
        yield Pattern("Recurring failures", detail, _evals(repeated))


def title_of(cause: str) -> str:
    """A fingerprint in words."""
    kind, _, rest = cause.partition(":")
    titles: dict[str, Callable[[str], str]] = {
        "lint": lambda rule: f"Lint rule {rule}",
        "type": lambda error: f"Type error {error}",
        "deploy": lambda error: f"Deployment refused: {error.removeprefix('refused ')}",
        "runtime": lambda error: f"The answer throws {error}",
        "test": lambda test: f"Test {test}",
        "api": lambda missing: f"An API that does not exist: {missing}",
    }
    return titles[kind](rest) if kind in titles else cause


def _about(failures: Sequence[FailureReport]) -> str:
    classes = Counter(failure.failure_class for failure in failures)
    steps = Counter(failure.failed_step for failure in failures)
    judged = listed(f"{number} {name}" for name, number in classes.most_common())
    return f"Failed at {listed(steps)}; classified {judged}."


def _evals(failures: Sequence[FailureReport]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(failure.eval for failure in failures))
