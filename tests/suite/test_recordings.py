"""`sample/apprentice` has an answer to every eval, and each says that it was written by hand."""

import pytest

from convex_evals.models.replay import RecordedModel
from convex_evals.models.responses import parse_response
from convex_evals.suite import Eval, load_suite, own_suite

LABEL = "<!-- Written by hand for demonstration: sample/apprentice is not a language model. -->"
EVALS = load_suite(own_suite()).evals
MODEL = RecordedModel.named("sample/apprentice")


@pytest.mark.parametrize("asked", EVALS, ids=lambda each: each.id)
def test_every_eval_has_a_recording_that_says_what_it_is(asked: Eval) -> None:
    response = MODEL.recording(asked).read_text(encoding="utf-8")
    assert response.splitlines()[0] == LABEL
    assert "package.json" in parse_response(response).files


def test_every_recording_is_of_an_eval() -> None:
    assert {path.relative_to(MODEL.folder).as_posix() for path in MODEL.folder.rglob("*/*.md")} == {
        f"{each.id}.md" for each in EVALS
    }
