"""`models discover`: what a provider lists and the registry lacks becomes an entry that the registry can read."""

import json
from typing import Any

import pytest

from convex_evals.models import load_registry

Asked = Any  # see conftest.py
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
    assert result.returncode == 0 and "box: 1 model that the registry does not know" in result.stderr
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
