from collections import Counter
from collections.abc import Callable

from convex_evals.analysis.patterns import find_patterns, title_of
from convex_evals.analysis.report import FailureReport

MakeFailure = Callable[..., FailureReport]
LINT, API = "lint:no-explicit-any", "api:v has no tuple"


def test_failures_that_share_a_cause_are_one_pattern(make_failure: MakeFailure) -> None:
    failures = [
        make_failure("a/1", causes=(LINT, "lint:no-unsafe-call")),
        make_failure("a/2", causes=("lint:no-unsafe-call", LINT)),
        make_failure("b/3", causes=(LINT,)),
        make_failure("b/4", causes=("test:x",)),
    ]
    (pattern,) = find_patterns(failures, Counter(a=9, b=9))
    assert (pattern.title, pattern.evals) == ("Lint rule no-explicit-any", ("a/1", "a/2", "b/3"))


def test_different_inventions_are_one_pattern_of_guessing(make_failure: MakeFailure) -> None:
    failures = [make_failure("a/1", causes=(API,)), make_failure("a/2", causes=("api:ctx.db has no find",))]
    (pattern,) = find_patterns(failures, Counter(a=9, b=9))
    assert pattern.title == "The API surface is guessed"
    assert "v has no tuple and ctx.db has no find" in pattern.detail


def test_gaps_strictness_hard_categories_and_repeats_are_reported(make_failure: MakeFailure) -> None:
    failures = [
        make_failure("a/1", "KNOWN_GAP", causes=("test:1",), repeat=True, cure="done"),
        make_failure("a/2", "OVERLY_STRICT", causes=("test:2",)),
        make_failure("a/3", causes=("test:3",)),
    ]
    titles = [pattern.title for pattern in find_patterns(failures, Counter(a=4, b=4))]
    assert titles == ["Known gaps", "The eval asks for more than its task", "a is hard", "Recurring failures"]


def test_a_fingerprint_reads_as_words() -> None:
    assert title_of("deploy:refused Uncaught Error") == "Deployment refused: Uncaught Error"
    assert title_of("filesystem:empty-submission") == "filesystem:empty-submission"
