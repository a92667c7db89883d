from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models.registry import Registry, load_registry


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
        ("", r"There is no model ''; convex-evals models lists them\."),
    ],
)
def test_an_unknown_model_is_one_sentence_with_a_hint(registry: Registry, name: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        registry.find(name)


def test_a_name_that_two_providers_have_needs_the_provider(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('[[model]]\nslug = "xai/twin"\n[[model]]\nslug = "groq/twin"\n')
    with pytest.raises(UsageError, match="'twin' may be xai/twin or groq/twin; give the provider too"):
        load_registry(tmp_path).find("twin")
