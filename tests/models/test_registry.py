from datetime import date
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import PROVIDER_VARIABLES
from convex_evals.models.costs import estimate_cost
from convex_evals.models.registry import ModelEntry, Price, Registry, load_registry


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return load_registry(tmp_path_factory.mktemp("nothing"))


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("openai/gpt-5.2-codex", "openai/gpt-5.2-codex"),
        ("gpt-5.2-codex", "openai/gpt-5.2-codex"),
        ("moonshotai/kimi-k3", "openrouter/moonshotai/kimi-k3"),
        ("reference", "reference"),
        ("apprentice", "sample/apprentice"),
    ],
)
def test_a_model_is_found_by_its_slug_or_without_the_provider(registry: Registry, name: str, slug: str) -> None:
    assert registry.find(name).slug == slug
    assert registry.find(name).listed


@pytest.mark.parametrize(
    ("name", "provider", "model", "api"),
    [
        ("openai/gpt-99", "openai", "gpt-99", "openai-responses"),
        ("openrouter/acme/model:free", "openrouter", "acme/model:free", "openrouter"),
        ("local/qwen3-coder:30b", "local", "qwen3-coder:30b", "openai-chat"),
        ("xai/grok-9", "xai", "grok-9", "openai-chat"),
    ],
)
def test_a_model_that_is_not_listed_has_its_providers_defaults(
    registry: Registry, name: str, provider: str, model: str, api: str
) -> None:
    entry = registry.find(name)
    assert (entry.provider, entry.model, entry.api, entry.listed) == (provider, model, api, False)
    assert entry.output_tokens == registry.providers[provider].output_tokens


def test_a_variant_is_the_same_model_asked_in_another_way(registry: Registry) -> None:
    entry = registry.find("openai/gpt-6.1-sol-high")
    assert (entry.model, entry.reasoning) == ("gpt-6.1-sol", "high")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("gpt-5.2-codx", r"There is no model 'gpt-5\.2-codx'; did you mean openai/gpt-5\.2-codex\?"),
        ("acme/a", r"There is no model 'acme/a': its provider must be one of openai, anthropic, "),
        ("openai/", r"There is no model 'openai/'"),
        ("sample/nobody", r"There is no model 'sample/nobody'; "),
        ("", r"There is no model ''; `convex-evals models` lists them\."),
    ],
)
def test_an_unknown_model_is_one_sentence_with_a_hint(registry: Registry, name: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        registry.find(name)


def test_a_name_that_two_providers_have_needs_the_provider(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('[[model]]\nslug = "xai/twin"\n[[model]]\nslug = "groq/twin"\n')
    with pytest.raises(UsageError, match="'twin' may be xai/twin or groq/twin; include the provider"):
        load_registry(tmp_path).find("twin")


OWN = """
[providers.garage]
api = "openai-chat"
base_url = "http://10.0.0.7:8080/v1"
output_tokens = 8000

[[model]]
slug = "garage/tiny-7b"
name = "Tiny 7B"
context_tokens = 32768
reasoning = "low"
price = { input = 0.1, output = 0.2 }
tags = ["home"]
first_seen = 2026-11-01

[[model]]
slug = "openai/gpt-5.2"
price = { input = 1, cached = 0.5, output = 2 }
"""


def test_our_list_has_models_of_every_big_provider_and_those_that_need_no_key(tmp_path: Path) -> None:
    models = load_registry(tmp_path).models
    assert {"openai", "anthropic", "google", "openrouter", "built-in", "sample"} <= {
        entry.provider for entry in models.values()
    }
    assert [entry.slug for entry in models.values() if not entry.needs_key] == [
        "reference",
        "empty",
        "sample/apprentice",
        "sample/expert",
        "sample/blind-1",
        "sample/blind-2",
        "sample/blind-3",
        "sample/blind-4",
        "sample/blind-5",
    ]


def test_every_entry_of_our_list_is_complete(tmp_path: Path) -> None:
    for entry in load_registry(tmp_path).models.values():
        assert entry.first_seen is not None, entry
        assert entry.name != entry.slug, entry
        assert entry.output_tokens is not None or not entry.needs_key, entry


def test_every_model_of_our_list_has_a_price_so_that_runs_of_it_can_have_a_budget(tmp_path: Path) -> None:
    priced = {entry.slug: estimate_cost(entry, 1, 1) for entry in load_registry(tmp_path).models.values()}
    samples = ["sample/apprentice", "sample/expert", *(f"sample/blind-{number}" for number in range(1, 6))]
    free = ["reference", "empty", *samples]
    assert [slug for slug, cost in priced.items() if not cost] == free


def test_every_provider_that_needs_a_key_has_a_variable_for_it(tmp_path: Path) -> None:
    providers = {provider.name for provider in load_registry(tmp_path).providers.values() if provider.open}
    assert providers - {"local"} == set(PROVIDER_VARIABLES)


def test_a_user_adds_providers_and_models_and_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(OWN)
    registry = load_registry(tmp_path)
    assert registry.models["garage/tiny-7b"] == ModelEntry(
        slug="garage/tiny-7b",
        name="Tiny 7B",
        provider="garage",
        model="tiny-7b",
        api="openai-chat",
        base_url="http://10.0.0.7:8080/v1",
        context_tokens=32768,
        output_tokens=8000,
        reasoning="low",
        price=Price(0.1, 0.2),
        tags=("home",),
        first_seen=date(2026, 11, 1),
    )
    assert registry.models["openai/gpt-5.2"].price == Price(1.0, 2.0, 0.5)
    assert "anthropic/claude-opus-5-5" in registry.models


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[model]", "is not valid TOML"),
        ("model = 1", "has model = 1, which must be tables that begin with [[model]]."),
        ("[[models]]", "has the unknown key 'models'; it may have: model, providers."),
        ("[[model]]", "[[model]] number 1, needs 'slug'."),
        ('[[model]]\nslug = "GPT 5"', "has the slug 'GPT 5', which must look like provider/model."),
        ('[[model]]\nslug = "acme/a"', "[[model]] acme/a, has the provider 'acme', not one of openai, "),
        ('[[model]]\nslug = "openai/a"\n[[model]]\nslug = "openai/a"', "which another model has already."),
        ('[[model]]\nslug = "openai/a"\napi = "soap"', "has api = 'soap', which must be one of openai-responses, "),
        ('[[model]]\nslug = "openai/a"\ncontext_tokens = 0', "has context_tokens = 0, which must be a whole number"),
        ('[[model]]\nslug = "openai/a"\nreasoning = "much"', "has reasoning = 'much', which must be one of none, "),
        (
            '[[model]]\nslug = "openai/a"\nprice = { input = 1 }',
            "[[model]] openai/a, price, needs 'input' and 'output'",
        ),
        ('[[model]]\nslug = "openai/a"\nprice = { input = -1, output = 1 }', "must be a number that is not negative."),
        ('[[model]]\nslug = "openai/a"\ntags = "x"', "must be a list of texts"),
        ('[[model]]\nslug = "openai/a"\nfirst_seen = "2026-11-01"', "must be a day, as in 2026-11-15 without quotes."),
        ('[[model]]\nslug = "openai/a"\ncolour = 1', "has the unknown key 'colour'; it may have: api, base_url, "),
        ('[providers.a]\nbase_url = "http://x"', "[providers.a], needs 'api', one of openai-responses, "),
        ('[providers.a]\napi = "openai-chat"\nbase_url = "x:1"', "which must begin with http:// or https://."),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "models.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_registry(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "models.toml"))
    assert complaint in str(caught.value)
