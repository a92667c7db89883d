"""`sample/apprentice` and `sample/expert` have an answer to every eval, and each says what it is."""

import json
from pathlib import Path

import pytest

from convex_evals.cli import main
from convex_evals.controls.scaffold import SAMPLES
from convex_evals.models.replay import RecordedModel
from convex_evals.models.responses import parse_response
from convex_evals.suite import Eval, load_suite, own_suite

LABELS = {f"sample/{name}": note for name, note in SAMPLES.items()}
EVALS = load_suite(own_suite()).evals


@pytest.mark.parametrize("slug", LABELS)
@pytest.mark.parametrize("asked", EVALS, ids=lambda each: each.id)
def test_every_eval_has_a_recording_that_says_what_it_is(asked: Eval, slug: str) -> None:
    response = RecordedModel.named(slug).recording(asked).read_text(encoding="utf-8")
    assert response.splitlines()[0] == LABELS[slug]
    files = parse_response(response).files
    assert files if asked.has_given else "package.json" in files


@pytest.mark.parametrize("slug", LABELS)
def test_every_recording_is_of_an_eval(slug: str) -> None:
    folder = RecordedModel.named(slug).folder
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*/*.md")} == {
        f"{each.id}.md" for each in EVALS
    }


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_right_answers_that_no_author_of_a_grader_has_seen_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.run(["run", "-m", "sample/expert", "--evals", str(own_suite()), "--json", "expert.json"]) == 0
    graded = json.loads((tmp_path / "expert.json").read_text())
    assert [each["eval"] for each in graded["evals"] if each["status"] != "passed"] == []
