"""A model of a provider, from the task to the files."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import read_settings
from convex_evals.models import Model
from convex_evals.models.prompt import PromptSettings, render_prompt
from convex_evals.models.providers import AskSettings, ProviderModel, has_key, open_provider
from convex_evals.models.registry import load_registry
from convex_evals.suite import Eval, load_suite

HEAVY = ["anthropic", "genai_prices", "google.genai", "httpx2", "openai", "pydantic", "pydantic_ai"]


@pytest.mark.parametrize(
    "module", ["convex_evals.models", "convex_evals.models.providers", "convex_evals.models.costs"]
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
        ("reference", "reference is built in and has no provider to ask."),
    ],
)
def test_what_is_missing_is_reported_in_one_sentence(tmp_path: Path, slug: str, sentence: str) -> None:
    settings = read_settings(environment={}, cwd=tmp_path)
    with pytest.raises(UsageError) as raised:
        open_provider(load_registry(tmp_path).find(slug), settings)
    assert str(raised.value) == sentence


def test_a_self_hosted_server_needs_no_key(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(
        '[providers.my-box]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"\n'
    )
    settings, registry = read_settings(environment={}, cwd=tmp_path), load_registry(tmp_path)
    assert has_key(registry.find("my-box/tiny"), settings)
    assert has_key(registry.find("local/tiny"), settings)
    assert not has_key(registry.find("openai/gpt-5.2"), settings)
    open_provider(registry.find("my-box/tiny"), settings)
    open_provider(registry.find("local/tiny"), settings, base_url="http://127.0.0.1:1/v1")


ANSWER = """\
# Files

## convex/index.ts

```ts
export {};
```

## package.json

```json
{"""


def asked(tmp_path: Path) -> Eval:
    folder = tmp_path / "evals/000-basics/000-first"
    (folder / "answer").mkdir(parents=True)
    (folder / "answer" / "index.ts").write_text("export {};\n")
    (folder / "TASK.txt").write_text("Write an empty backend.\n")
    (folder / "grader.py").write_text("def test_nothing(files):\n    pass\n")
    (found,) = load_suite(tmp_path / "evals").evals
    return found


async def test_it_is_asked_with_the_prompt_and_its_files_are_read(
    provider_server: Any, asker: Any, tmp_path: Path
) -> None:
    settings, ask = PromptSettings(), AskSettings(output_tokens=900)
    model: Model = ProviderModel("local/tiny", "local", asker.transport(), settings, ask)
    provider_server.script(provider_server.says(f"{ANSWER}}}\n```\n"), provider_server.says(ANSWER, "length"))
    eval_ = asked(tmp_path)
    assert model.answers(eval_, 1)
    generation = await model.generate(eval_, 1)
    assert generation.prompt == render_prompt("Write an empty backend.", settings).text
    assert provider_server.requests[0].prompt == render_prompt("Write an empty backend.", settings).user
    assert generation.files == {"convex/index.ts": "export {};\n", "package.json": "{}\n"}
    assert (generation.truncated, generation.from_cache) == (False, False)
    assert generation.usage is not None and generation.usage.output_tokens == 7

    cut = await model.generate(eval_, 2)
    assert cut.truncated and cut.response == ANSWER
    assert cut.files == {"convex/index.ts": "export {};\n"}
    assert cut.usage is not None and cut.usage.finish_reason == "length"
