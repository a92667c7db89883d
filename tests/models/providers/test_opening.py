import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import read_settings
from convex_evals.models.providers import has_key, open_provider
from convex_evals.models.registry import load_registry

HEAVY = ["anthropic", "genai_prices", "google.genai", "httpx2", "openai", "pydantic", "pydantic_ai"]


@pytest.mark.parametrize(
    "module", ["convex_evals.models", "convex_evals.models.providers", "convex_evals.models.pricing"]
)
def test_importing_models_loads_nothing_that_speaks_to_providers(module: str) -> None:
    source = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    printed = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True).stdout
    assert printed == "\n"


@pytest.mark.parametrize(
    ("slug", "sentence"),
    [
        ("openai/gpt-5.2", "openai/gpt-5.2 needs a key: set OPENAI_API_KEY in the environment or in .env."),
        (
            "google/gemini-2.5-pro",
            "google/gemini-2.5-pro needs a key: set GOOGLE_API_KEY or GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY "
            "in the environment or in .env.",
        ),
        (
            "local/tiny",
            "local/tiny needs the address of its server: give it with --base-url, as in http://127.0.0.1:8080/v1, "
            "or in ./models.toml.",
        ),
        ("reference", "reference has no provider that could be asked."),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(tmp_path: Path, slug: str, sentence: str) -> None:
    settings = read_settings(environment={}, cwd=tmp_path)
    with pytest.raises(UsageError) as raised:
        open_provider(load_registry(tmp_path).find(slug), settings)
    assert str(raised.value) == sentence


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(
        '[providers.my-box]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"\n'
    )
    settings, registry = read_settings(environment={}, cwd=tmp_path), load_registry(tmp_path)
    assert has_key(registry.find("my-box/tiny"), settings)
    assert has_key(registry.find("local/tiny"), settings)
    assert not has_key(registry.find("openai/gpt-5.2"), settings)
    open_provider(registry.find("my-box/tiny"), settings)
    open_provider(registry.find("local/tiny"), settings, base_url="http://127.0.0.1:1/v1")
