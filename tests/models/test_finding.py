from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models import BUILT_IN, find_model
from convex_evals.scores import Generation, PlannedEval, RunPlan, ScoresStore, Usage
from convex_evals.suite import Eval, load_suite

ASKED = "000-basics/000-hello"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ScoresStore]:
    with ScoresStore.open(tmp_path / "scores.db") as opened:
        yield opened


@pytest.fixture
def asked(tmp_path: Path) -> Eval:
    path = tmp_path / "evals" / ASKED
    (path / "answer" / "convex").mkdir(parents=True)
    (path / "TASK.txt").write_text("Say hello.\n")
    (path / "answer" / "package.json").write_text("{}")
    (path / "answer" / "convex" / "index.ts").write_text("export {};\n")
    return load_suite(tmp_path / "evals").evals[0]


def stored_run(store: ScoresStore) -> str:
    run = store.create_run(RunPlan("tester", "test", "default", (PlannedEval(ASKED),), trials=2))
    attempt = store.begin_attempt(run, ASKED)
    usage = Usage(input_tokens=1)
    store.record_generation(attempt.id, Generation("prompt", "response", {"a.ts": "// \ud800"}, usage))
    return run


async def test_reference_answers_with_the_reference_answer(store: ScoresStore, asked: Eval) -> None:
    model = find_model("reference", store)
    generation = await model.generate(asked, 1)
    assert (model.name, model.provider) == ("reference", BUILT_IN)
    assert generation == Generation("Say hello.\n", "", {"convex/index.ts": "export {};\n", "package.json": "{}"})


async def test_reference_honours_the_globs_of_the_suite(store: ScoresStore, asked: Eval) -> None:
    generation = await find_model("reference", store, ("*.ts",)).generate(asked, 1)
    assert list(generation.files) == ["convex/index.ts"]


async def test_empty_writes_nothing(store: ScoresStore, asked: Eval) -> None:
    assert (await find_model("empty", store).generate(asked, 1)).files == {}


async def test_a_folder_is_replayed_as_far_as_it_has_answers(store: ScoresStore, asked: Eval, tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    (folder / ASKED / "convex").mkdir(parents=True)
    (folder / ASKED / "convex" / "index.ts").write_text("export const x = 1;\n")
    model = find_model(f"replay:{folder}", store)
    assert model.name == f"replay:{folder}"
    assert model.answers(asked, 1) and model.answers(asked, 2)
    assert (await model.generate(asked, 2)).files == {"convex/index.ts": "export const x = 1;\n"}
    (tmp_path / "nothing").mkdir()
    assert not find_model(f"replay:{tmp_path / 'nothing'}", store).answers(asked, 1)


async def test_a_run_is_replayed_word_for_word_and_costs_nothing(store: ScoresStore, asked: Eval) -> None:
    run = stored_run(store)
    model = find_model(f"replay:{run[:8]}", store)
    assert model.name == f"replay:{run}"
    assert [model.answers(asked, trial) for trial in (1, 2)] == [True, False]
    assert await model.generate(asked, 1) == Generation("prompt", "response", {"a.ts": "// \ud800"}, from_cache=True)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gpt-9", "There is no model 'gpt-9'"),
        ("sample/nobody", "There is no recorded model 'sample/nobody'"),
        ("Reference", "There is no model 'Reference'"),
        ("", "There is no model ''"),
        ("replay:", "'replay:' must name a folder of answers or a run"),
        ("replay:no/such/folder", "'replay:no/such/folder' must name a folder of answers or a run"),
        ("replay:0a1b2c3d", "There is no run '0a1b2c3d' in these scores"),
    ],
)
def test_a_name_that_means_nothing_is_refused(store: ScoresStore, name: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        find_model(name, store)


def test_a_run_without_answers_cannot_be_replayed(store: ScoresStore) -> None:
    run = store.create_run(RunPlan("tester", "test", "default", (PlannedEval(ASKED),)))
    with pytest.raises(UsageError, match="stored no answers"):
        find_model(f"replay:{run}", store)
