"""`sample/*`: recorded answers, each of which says what it is. Those of apprentice and expert make up the demo."""

import json
from pathlib import Path

import pytest

from convex_evals.cli import main
from convex_evals.controls.scaffold import APPRENTICE
from convex_evals.models.model import RecordedModel, samples_folder
from convex_evals.models.responses import parse_response
from convex_evals.suite import load_suite, own_suite

BLIND = "<!-- Recorded for calibration: a blind attempt, written once from the prompt alone. -->"
LABELS = {
    "apprentice": APPRENTICE,
    "expert": "<!-- Recorded for demonstration: sample/expert is a fixed set of answers, each written once from its "
    "task alone. -->",
    **{f"blind-{number}": BLIND for number in range(1, 6)},
}
EVALS = {each.id: each for each in load_suite(own_suite()).evals}
FUNDAMENTALS = {name for name in EVALS if name < "007"}
SAMPLES = sorted(path.name for path in samples_folder().iterdir())
RECORDED = {sample: RecordedModel.named(f"sample/{sample}").recorded for sample in SAMPLES}
RECORDINGS = [(sample, name) for sample, names in RECORDED.items() for name in sorted(names)]


@pytest.mark.parametrize("sample", ["apprentice", "expert"])
def test_every_eval_of_the_demo_has_a_recording(sample: str) -> None:
    assert FUNDAMENTALS - RECORDED[sample] == set()


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_recording_is_of_an_eval(sample: str) -> None:
    assert RECORDED[sample] - EVALS.keys() == set()


@pytest.mark.parametrize(("sample", "name"), RECORDINGS)
def test_a_recording_says_what_it_is_and_holds_files(sample: str, name: str) -> None:
    asked = EVALS[name]
    response = RecordedModel.named(f"sample/{sample}").recording(asked).read_text(encoding="utf-8")
    assert response.splitlines()[0] == LABELS[sample]
    files = parse_response(response).files
    assert files if asked.has_given else "package.json" in files


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_right_answers_that_no_author_of_a_grader_has_seen_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = ["--evals", str(own_suite()), "--filter", "^00[0-6]"]
    assert main.run(["run", "-m", "sample/expert", *chosen, "--json", "expert.json"]) == 0
    graded = json.loads((tmp_path / "expert.json").read_text())
    assert [each["eval"] for each in graded["evals"] if each["status"] != "passed"] == []
