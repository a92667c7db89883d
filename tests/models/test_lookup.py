from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import read_settings
from convex_evals.models import BUILT_IN, AskOptions, Connections, find_model, prompt_fingerprint_of
from convex_evals.models.cache import CachingTransport
from convex_evals.models.experiments import find_experiment
from convex_evals.models.prompt import prompt_fingerprint
from convex_evals.models.providers import ProviderModel
from convex_evals.scores import Fingerprints, Generation, PlannedEval, RunPlan, ScoresStore, Usage
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


async def test_a_run_is_replayed_verbatim_and_costs_nothing(store: ScoresStore, asked: Eval) -> None:
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


@pytest.fixture
def connections(tmp_path: Path) -> Connections:
    environment = {"OPENAI_API_KEY": "sk-test", "CONVEX_EVALS_CACHE": str(tmp_path / "cache")}
    said: list[str] = []
    return Connections(read_settings(environment=environment, cwd=tmp_path), said.append)


def test_a_model_of_a_provider_is_asked_as_the_experiment_wants(store: ScoresStore, connections: Connections) -> None:
    asking = AskOptions(find_experiment("no_guidelines"))
    model = find_model("gpt-5.2", store, ["convex/**"], asking=asking, connections=connections)
    assert isinstance(model, ProviderModel)
    assert (model.name, model.provider) == ("openai/gpt-5.2", "openai")
    assert model.prompt_settings == asking.prompt_settings(["convex/**"])
    assert prompt_fingerprint_of(model) == prompt_fingerprint(model.prompt_settings)


def test_the_address_on_the_command_line_is_for_local_models(store: ScoresStore, connections: Connections) -> None:
    asking = AskOptions(base_url="http://127.0.0.1:9/v1")
    addresses = {}
    for name in ("local/tiny", "openai/gpt-5.2"):
        model = find_model(name, store, asking=asking, connections=connections)
        assert isinstance(model, ProviderModel) and isinstance(model.transport, CachingTransport)
        addresses[name] = model.transport.entry.base_url
    assert addresses == {"local/tiny": "http://127.0.0.1:9/v1", "openai/gpt-5.2": None}


@pytest.mark.parametrize(
    ("name", "experiment", "sentence"),
    [
        ("anthropic/claude-sonnet-4-5", "default", "needs a key: set ANTHROPIC_API_KEY"),
        ("local/tiny", "default", "local/tiny needs the address of its server"),
        ("local/tiny", "web_search", "local/tiny cannot search the web, which the experiment web_search requires"),
    ],
)
def test_a_model_that_cannot_be_asked_is_one_sentence(
    store: ScoresStore, connections: Connections, name: str, experiment: str, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        find_model(name, store, asking=AskOptions(find_experiment(experiment)), connections=connections)


def test_a_typo_in_an_open_list_is_mentioned(store: ScoresStore, tmp_path: Path) -> None:
    said: list[str] = []
    environment = {"OPENAI_API_KEY": "sk-test"}
    connections = Connections(read_settings(environment=environment, cwd=tmp_path), said.append)
    find_model("openai/gpt-5.2-codx", store, connections=connections)
    find_model("openai/entirely-new", store, connections=connections)
    find_model("openai/gpt-5.2", store, connections=connections)
    assert len(said) == 1
    assert said[0].startswith(
        "openai/gpt-5.2-codx is not listed, and is asked for as it is; listed are: openai/gpt-5.2-c"
    )


def test_only_answers_to_a_prompt_have_its_fingerprint(store: ScoresStore) -> None:
    for name in ("reference", "empty", "sample/apprentice", "sample/expert"):
        assert prompt_fingerprint_of(find_model(name, store)) is None
    run = store.create_run(
        RunPlan("tester", "test", "default", (PlannedEval(ASKED),), fingerprints=Fingerprints(prompt="p"))
    )
    attempt = store.begin_attempt(run, ASKED)
    store.record_generation(attempt.id, Generation("prompt", "response", {}))
    assert prompt_fingerprint_of(find_model(f"replay:{run}", store)) == "p"
