from collections.abc import Callable

import pytest

from convex_evals.analysis.recommendations import overall, recommend
from convex_evals.analysis.report import FailureReport

MakeFailure = Callable[..., FailureReport]


def test_each_class_leads_to_its_own_kind_of_change(make_failure: MakeFailure) -> None:
    given = recommend(
        [
            make_failure("a/1", "OVERLY_STRICT"),
            make_failure("a/2", "AMBIGUOUS_TASK"),
            make_failure("a/3", "KNOWN_GAP"),
            make_failure("a/4", "OVERLY_STRICT", failed_step="eslint", causes=("lint:no-misused-promises",)),
            make_failure("a/5", causes=("api:v has no tuple",)),
            make_failure("a/6", causes=("api:v has no tuple",)),
        ]
    )
    assert [line.partition(":")[0] for line in given.evals] == ["a/1", "a/2", "a/3"]
    assert given.lint == ("Lint rule no-misused-promises: a narrow exception, or a word about it in the tasks (a/4).",)
    assert given.model == ("An API that does not exist: v has no tuple (5 and 6).",)
    assert given.none == ("a/5", "a/6")


def test_a_failure_that_said_nothing_asks_for_better_logs(make_failure: MakeFailure) -> None:
    (line,) = recommend([make_failure(fingerprints=())]).lint
    assert line.startswith("1 failure without a usable message")


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ((), "Nothing failed"),
        (("MODEL_FAULT",), "Every failure is the model's own"),
        (("KNOWN_GAP",), "No failure is clearly the model's own"),
        (("MODEL_FAULT", "MODEL_FAULT", "KNOWN_GAP"), "Most failures are the model's own (2 of 3)"),
        (("MODEL_FAULT", "KNOWN_GAP"), "At most half of the failures are clearly the model's (1 of 2)"),
    ],
)
def test_the_run_is_summed_up_in_a_sentence(classes: tuple[str, ...], said: str, make_failure: MakeFailure) -> None:
    assert overall([make_failure(failure_class=each) for each in classes]).startswith(said)
