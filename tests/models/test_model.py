from pathlib import Path

import pytest

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.models.model import RecordedModel, samples_folder
from convex_evals.models.responses import parse_response
from convex_evals.suite import Eval, find_suite, load_suite

SUITE = load_suite(find_suite())
APPRENTICE = RecordedModel.named("sample/apprentice")
RECORDINGS = sorted(APPRENTICE.folder.glob("*/*.md"))
RECORDING = "<!-- Written by hand, for demonstration. -->\n\n# Files\n\n## convex/a.ts\n\n```ts\n1;\n```\n"


@pytest.fixture
def asked() -> Eval:
    return next(each for each in SUITE.evals if each.id == "000-fundamentals/000-empty_functions")


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    recording = tmp_path / "pupil/000-fundamentals/000-empty_functions.md"
    recording.parent.mkdir(parents=True)
    recording.write_text(RECORDING)
    return tmp_path


async def test_a_recording_is_read_like_any_response(samples: Path, asked: Eval) -> None:
    model = RecordedModel.named("sample/pupil", samples)
    generation = await model.generate(asked, 1)
    assert (model.name, model.provider) == ("sample/pupil", "sample")
    assert generation.response == RECORDING
    assert generation.prompt == asked.task
    assert generation.files == {"convex/a.ts": "1;\n"}
    assert generation.usage is None


async def test_an_eval_without_a_recording_is_planned_and_says_which_file_is_missing(
    samples: Path, asked: Eval
) -> None:
    model = RecordedModel.named("sample/pupil", samples)
    model.recording(asked).unlink()
    assert model.answers(asked, 1)
    with pytest.raises(InfrastructureError, match=r"sample/pupil has no recording for 000-.*/000-empty_functions\.md"):
        await model.generate(asked, 1)


@pytest.mark.parametrize("slug", ["sample/nobody", "sample/", "sample/../pupil"])
def test_a_model_without_recordings_is_refused(samples: Path, slug: str) -> None:
    with pytest.raises(UsageError, match="There is no recorded model"):
        RecordedModel.named(slug, samples)


def test_a_recorded_model_that_is_misspelt_is_suggested(samples: Path) -> None:
    with pytest.raises(UsageError, match=r"no recorded model 'sample/pupl'; did you mean sample/pupil\?"):
        RecordedModel.named("sample/pupl", samples)
    for far in ("sample/zzzzzz", "sample/nope"):
        with pytest.raises(UsageError, match=rf"no recorded model '{far}'; there are: sample/pupil\."):
            RecordedModel.named(far, samples)


def test_our_samples_are_next_to_the_suite() -> None:
    assert (samples_folder() / "apprentice" / "README.md").is_file()


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_recording_of_ours_belongs_to_an_eval_and_says_that_it_was_written_by_hand(recording: Path) -> None:
    first, _, rest = recording.read_text().partition("\n")
    assert first.startswith("<!--")
    assert first.endswith("-->")
    assert "by hand" in first
    assert f"{recording.parent.name}/{recording.stem}" in {each.id for each in SUITE.evals}
    assert parse_response(rest, "stop").files
