import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.cli.runs.lookup import last_address
from convex_evals.models import load_registry

Command = Callable[..., subprocess.CompletedProcess[str]]
Record = Callable[..., str]
Asked = Any  # see conftest.py


def listed(result: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert result.returncode == 0, result.stderr
    return {each["slug"]: each for each in json.loads(result.stdout)["models"]}


def test_models_say_whether_there_is_a_key_and_which_variable_holds_it(convex_evals: Command, tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": "sk-a", "GEMINI_API_KEY": "sk-b", "ANTHROPIC_API_KEY": ""}
    models = listed(convex_evals("models", "--json", **keys))
    facts = {slug: (each["keyPresent"], each["keyVariables"]) for slug, each in models.items()}
    assert facts["openai/gpt-5.2"] == (True, ["OPENAI_API_KEY"])
    assert facts["google/gemini-2.5-pro"] == (True, ["GEMINI_API_KEY"])
    assert facts["anthropic/claude-sonnet-4-5"] == (False, ["ANTHROPIC_API_KEY"])
    assert facts["reference"] == (None, [])
    table = convex_evals("models", **keys).stdout
    assert "sk-a" not in table
    assert not (tmp_path / "scores").exists()


def test_the_last_score_is_that_of_the_latest_complete_run_of_the_suite(
    convex_evals: Command, hello_suite: Callable[..., Path], record_run: Record
) -> None:
    hello_suite(2, wrong=(1,))
    run = json.loads(convex_evals("run", "-m", "reference", "--json", "-").stdout)["run"]["id"]
    convex_evals("run", "-m", "reference", "--name", "000-hello")
    convex_evals("models", "check", "reference", "--name", "000-hello")
    convex_evals("validate", "--trials", "2")
    record_run({"000-first": "passed"}, model="openai/gpt-5.2")
    record_run({"000-first": "passed"}, model="local/unlisted")
    models = listed(convex_evals("models", "--json"))
    last = models["reference"]["lastRun"]
    assert (last["id"], last["passRate"], last["passed"], last["failed"]) == (run, 0.5, 1, 1)
    assert models["openai/gpt-5.2"]["lastRun"] is None
    assert not models["local/unlisted"]["listed"]
    [line] = [line for line in convex_evals("models").stdout.splitlines() if line.startswith("reference ")]
    assert "50.0% (9% to 91%)" in line and run[:8] in line
    hello_suite(3)
    assert listed(convex_evals("models", "--json"))["reference"]["lastRun"] is None


def test_a_models_own_file_adds_to_the_list(convex_evals: Command, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('[[model]]\nslug = "local/mine"\nname = "Mine"\ntags = ["home"]\n')
    assert listed(convex_evals("models", "--json"))["local/mine"]["tags"] == ["home"]
    (tmp_path / "models.toml").write_text('[[model]]\nslug = "nobody/mine"\n')
    broken = convex_evals("models")
    assert broken.returncode == 2
    assert "has the provider 'nobody'" in broken.stderr


def test_models_list_is_the_same_as_models(convex_evals: Command) -> None:
    assert convex_evals("models", "list", "--json").stdout == convex_evals("models", "--json").stdout


def check(asked: Asked, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = ("models", "check", "local/tiny", "--base-url", asked.server.url, "--name", "000-hello", *options)
    result: subprocess.CompletedProcess[str] = asked(*arguments)
    return result


def test_a_check_asks_once_and_runs_one_eval(asked: Asked) -> None:
    asked.server.script(asked.server.says("OK"))
    result = check(asked, "--json")
    assert result.returncode == 0, result.stderr
    assert "request  answered 'OK' · " in result.stderr and "11 tokens in, 7 out · cost unknown" in result.stderr
    assert "eval     000-basics/000-hello: passed" in result.stderr
    found = json.loads(result.stdout)
    assert (found["model"], found["baseUrl"], found["request"]["text"]) == ("local/tiny", asked.server.url, "OK")
    assert (found["request"]["usage"]["inputTokens"], found["request"]["cost"]) == (11, None)
    assert (found["eval"]["status"], found["eval"]["usage"]["outputTokens"]) == ("passed", 7)
    assert len(asked.server.requests) == 2
    [run] = json.loads(asked("status", "--json").stdout)["runs"]
    assert (run["id"], run["labels"]) == (found["run"], ["check"])
    assert listed(asked("models", "--json")).get("local/tiny") is None


def test_the_last_address_is_remembered(asked: Asked) -> None:
    assert last_address(None) is None
    assert asked("models", "check", "local/tiny", "--base-url", asked.server.url, "--name", "000-hello").returncode == 0
    assert last_address(None) == asked.server.url
    again = asked("models", "check", "local/tiny", "--name", "000-hello")
    assert again.returncode == 0, again.stderr
    assert f"address  {asked.server.url}, as in the last run; --base-url names another" in again.stderr


def test_a_check_is_also_written_to_a_file(asked: Asked, tmp_path: Path) -> None:
    assert check(asked, "--json", "check.json").returncode == 0
    assert json.loads((tmp_path / "check.json").read_text())["request"]["ok"] is True


def test_an_eval_that_fails_is_still_an_answer(asked: Asked) -> None:
    asked.server.script(asked.server.says("OK"), asked.server.says("I would rather not."))
    result = check(asked)
    assert result.returncode == 0
    assert "eval     000-basics/000-hello: failed (filesystem: " in result.stderr
    assert not result.stdout


def test_a_model_that_does_not_answer_ends_the_check(asked: Asked) -> None:
    asked.server.script(asked.server.refuses(401, "bad key"))
    result = check(asked, "--json")
    assert result.returncode == 3
    request = json.loads(result.stdout)["request"]
    assert request["ok"] is False and request["error"] in result.stderr
    assert len(asked.server.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["openai/gpt-5.2"], "openai/gpt-5.2 needs a key: set OPENAI_API_KEY in the environment or in .env."),
        (["local/tiny"], "local/tiny needs the address of its server: give it with --base-url,"),
        (["local/tiny", "--base-url", "tiny:80"], "--base-url must be a URL such as http://127.0.0.1:8080/v1, but it"),
        (["reference", "--base-url", "http://h/v1"], "--base-url says where local/NAME is served, and no such model"),
        (["opnai/gpt-5.2"], "There is no model 'opnai/gpt-5.2': its provider must be one of"),
    ],
)
def test_a_check_that_cannot_begin_is_one_sentence(
    convex_evals: Command, hello_suite: Callable[..., Path], arguments: list[str], sentence: str
) -> None:
    hello_suite(1)
    result = convex_evals("models", "check", *arguments, "--name", "000-hello", OPENAI_API_KEY="")
    assert result.returncode == 2
    assert result.stderr.startswith(f"convex-evals: {sentence}")
    assert result.stderr.count("\n") == 1


def test_models_without_a_provider_only_run_the_eval(asked: Asked) -> None:
    result = asked("models", "check", "reference", "--name", "000-hello", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert "request" not in found and found["eval"]["status"] == "passed"


BOX = '[providers.box]\napi = "openai-chat"\nbase_url = "{url}"\n[[model]]\nslug = "box/tiny"\n'
NEW = {
    "id": "maker/new-one",
    "name": 'Maker: "New" One',
    "created": 1_790_000_000,
    "context_length": 200_000,
    "pricing": {"prompt": "0.0000025", "completion": "0.00001"},
}


@pytest.fixture
def box(asked: Asked) -> Asked:
    """A folder with a provider of its own, which lists one model that is known and one that is not."""
    (asked.folder / "models.toml").write_text(BOX.format(url=asked.server.url))
    asked.server.listed = ({"id": "tiny"}, NEW)
    return asked


def test_a_model_that_only_the_provider_knows_is_shown_as_an_entry_that_can_be_appended(box: Asked) -> None:
    result = box("models", "discover", "--provider", "box")
    assert result.returncode == 0 and "box: 1 model not in the registry" in result.stderr
    with (box.folder / "models.toml").open("a") as file:
        file.write(result.stdout)
    entry = load_registry(box.folder).find("box/maker/new-one")
    assert (entry.name, entry.context_tokens, entry.listed) == ('Maker: "New" One', 200_000, True)
    assert entry.price is not None and (entry.price.input, entry.price.output) == (2.5, 10.0)
    assert "slug" not in box("models", "discover", "--provider", "box").stdout


def test_discovering_adds_nothing(box: Asked) -> None:
    before = (box.folder / "models.toml").read_text()
    box("models", "discover", "--provider", "box")
    assert (box.folder / "models.toml").read_text() == before


@pytest.mark.parametrize(("since", "number"), [("2026-09-21", 1), ("2026-09-22", 0)])
def test_older_models_can_be_left_out(box: Asked, since: str, number: int) -> None:
    result = box("models", "discover", "--provider", "box", "--since", since, "--json")
    assert len(json.loads(result.stdout)["models"]) == number


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [([{"name": "no id"}], "cannot be read"), (["text"], "cannot be read")],
)
def test_a_list_that_cannot_be_read_is_one_sentence(box: Asked, listed: list[Any], complaint: str) -> None:
    box.server.listed = listed
    result = box("models", "discover", "--provider", "box")
    assert result.returncode == 3 and complaint in result.stderr and result.stderr.count("\n") == 1


def test_figures_that_make_no_sense_are_left_out(box: Asked) -> None:
    box.server.listed = [{"id": "odd", "created": -5, "context_length": "many", "pricing": {"prompt": "free"}}]
    [model] = json.loads(box("models", "discover", "--provider", "box", "--json").stdout)["models"]
    assert (model["created"], model["contextTokens"], model["price"], model["name"]) == (None, None, None, None)


@pytest.mark.parametrize(
    ("provider", "complaint"),
    [
        ("openrouter", "set OPENROUTER_API_KEY"),
        ("anthropic", "has no list of models to ask for"),
        ("no", "'no' has no"),
    ],
)
def test_a_provider_that_cannot_be_asked_is_named_with_the_reason(box: Asked, provider: str, complaint: str) -> None:
    result = box("models", "discover", "--provider", provider)
    assert result.returncode == 2 and complaint in result.stderr


def test_a_provider_that_does_not_answer_says_nothing_about_the_others(box: Asked) -> None:
    with (box.folder / "models.toml").open("a") as file:
        file.write('[providers.gone]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:9/v1"\n')
    result = box("models", "discover")
    assert result.returncode == 3 and "gone does not answer" in result.stderr and "new-one" in result.stdout
