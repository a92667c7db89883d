"""A model of a provider, from the task to the files."""

from pathlib import Path
from typing import Any

from convex_evals.models import Model
from convex_evals.models.prompt import PromptSettings, render_prompt
from convex_evals.models.providers import AskSettings, ProviderModel
from convex_evals.suite import Eval, load_suite

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
    assert "The model was stopped before it was done (length)." in cut.notes
