import pytest

from convex_evals.analysis.evidence import Cause, Evidence
from convex_evals.analysis.gaps import match_gap, passages
from convex_evals.core.diagnostics import Diagnostic

GAPS = """\
Wildcards: models write `path: "/api/*"` instead of `pathPrefix`, and the requests return 404.

- Whether an upload is retried is not checked.
"""


def failing(message: str, model: str = "", expected: str = "", gaps: str = GAPS) -> Evidence:
    cause = Cause("isolated", model, expected)
    return Evidence(
        failed_step="tests",
        diagnostics=(Diagnostic("tests", message, "test_x"),),
        cause=cause,
        gaps=gaps,
        task="Routes.",
    )


def test_passages_are_paragraphs_and_items() -> None:
    assert [each.split()[0] for each in passages(GAPS)] == ["Wildcards:", "-"]


def test_the_passage_that_speaks_of_the_cause_is_found() -> None:
    found = match_gap(failing("/api/* paths return 404", 'path: "/api/*"', 'pathPrefix: "/api/"'))
    assert found is not None
    assert found.passage.startswith("Wildcards")
    assert "pathprefix" in found.terms
    assert found.score >= 0.4


@pytest.mark.parametrize("gaps", ["", "\n\n"])
def test_no_gaps_no_match(gaps: str) -> None:
    assert match_gap(failing("404", gaps=gaps)) is None


def test_a_gap_about_something_else_scores_next_to_nothing() -> None:
    found = match_gap(failing("expected 3 rows, received 4", "take(4)", "take(3)"))
    assert found is None or found.score < 0.2


def test_what_the_whole_task_is_about_is_no_sign_of_a_gap() -> None:
    evidence = Evidence(
        failed_step="tests",
        task="`addBox` adds a box.",
        diagnostics=(Diagnostic("tests", "addBox returned nothing", "test_addBox"),),
        gaps="That `addBox` calls the helper is seen in the source.",
    )
    found = match_gap(evidence)
    assert found is None or "addbox" not in found.terms
