import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

Asked = Any  # see conftest.py
GUIDE = "# Guide\n\n## Greeting\n\nSay hello to the world.\n\n## Weather\n\nIt may rain tomorrow, or not at all.\n"


@pytest.fixture
def guide(asked: Asked) -> Path:
    """A server that answers rightly if the greeting is in the prompt, and says how long the prompt is."""

    async def answers(question: Any) -> Any:
        right = "Say hello to the world." in question.prompt
        usage = {"prompt_tokens": len(question.prompt), "completion_tokens": 10}
        return await asked.server.says(asked.right if right else "I do not know how.", usage=usage)(question)

    asked.server.script(*[answers] * 100)
    path: Path = asked.folder / "guide.md"
    path.write_text(GUIDE)
    return path


def ablate(asked: Asked, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = ("ablate", "-m", "local/tiny", "--base-url", asked.server.url, "--guidelines", "guide.md")
    result: subprocess.CompletedProcess[str] = asked(*arguments, "--jobs", "1", *options)
    return result


def test_what_a_section_is_worth_is_measured(asked: Asked, guide: Path) -> None:
    result = ablate(asked, "--json", "-")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    facts = [(each["kind"], each["section"], each["passRate"]) for each in found["variants"]]
    assert facts == [
        ("all", None, 1.0),
        ("without", "Greeting", 0.0),
        ("without", "Weather", 1.0),
        ("none", None, 0.0),
    ]
    changes = [each["change"] for each in found["variants"]]
    assert changes[0] is None
    same = {"low": -1.0, "high": -1.0, "evals": 3, "p": 0.25, "pCorrected": 0.75, "certain": False}
    assert changes[1] == {"mean": -1.0, **same}
    assert changes[2] == {"mean": 0.0, **same, "low": 0.0, "high": 0.0, "p": 1.0, "pCorrected": 1.0}
    greeting = len("## Greeting\n\nSay hello to the world.\n\n")
    assert found["variants"][1]["tokens"] == -(-greeting // 4)
    assert found["variants"][1]["measuredTokens"] == greeting
    assert "paired bootstrap" in found["ablation"]["method"]
    lines = [line.split() for line in result.stderr.splitlines()]
    assert ["Greeting", str(greeting), "0%", "-100%", "-100%", "to", "-100%", "0.75", "3", "unknown"] in [
        line[:-1] for line in lines
    ]


def test_its_runs_are_ordinary_ones_with_a_label(asked: Asked, guide: Path) -> None:
    assert ablate(asked, "--section", "Weather", "--name", "000-hello").returncode == 0
    runs = json.loads(asked("status", "--json").stdout)["runs"]
    assert [run["experiment"] for run in reversed(runs)] == [
        "guidelines_guide",
        "guidelines_guide_without_weather",
        "guidelines_guide_without_guidelines",
    ]
    assert all(run["labels"] == ["ablation"] and run["status"] == "completed" for run in runs)
    assert len({run["fingerprints"]["prompt"] for run in runs}) == 3


def test_an_ablation_that_ended_early_is_resumed_as_a_whole(asked: Asked, guide: Path) -> None:
    asked.price(1_000)
    options = ("--section", "Greeting", "--budget", "10", "--json", "first.json")
    first = ablate(asked, *options)
    assert first.returncode == 3, first.stderr
    asked_before = len(asked.server.requests)
    assert asked_before < 9
    found = json.loads((asked.folder / "first.json").read_text())
    identifier = found["ablation"]["id"][:8]
    assert f"`convex-evals ablate --resume {identifier}` continues with them." in first.stdout
    resumed = asked("ablate", "--resume", identifier, "--jobs", "1", "--json", "-")
    assert resumed.returncode == 0, resumed.stderr
    assert [each["passRate"] for each in json.loads(resumed.stdout)["variants"]] == [1.0, 0.0, 0.0]
    assert len(asked.server.requests) == 9
    again = asked("ablate", "--resume", identifier)
    assert again.returncode == 0 and "Greeting" in again.stdout
    assert len(asked.server.requests) == 9


def test_a_dry_run_says_what_it_would_cost(asked: Asked, guide: Path) -> None:
    result = ablate(asked, "--dry-run")
    assert result.returncode == 0
    assert result.stdout.count("price unknown") == 5
    assert not asked.server.requests


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name the model to ask with --model, or the ablation to continue with --resume."),
        (["-m", "reference"], "reference is not sent a prompt, so leaving out guidelines would change nothing."),
        (["-m", "local/x", "-e", "no_guidelines"], "The experiment no_guidelines has no guidelines,"),
        (["-m", "local/x", "--section", "Cooking"], "convex.md has no section 'Cooking'; it has: "),
        (["--resume", "0a1b2c3d"], "'0a1b2c3d' must be the id of an ablation, or its first 8 characters; there are"),
        (["--resume", "0a1b2c3d", "--trials", "2"], "--resume goes on with an ablation as it was planned; leave out"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(asked: Asked, arguments: list[str], sentence: str) -> None:
    result = asked("ablate", *arguments)
    assert result.returncode == 2
    assert result.stderr.startswith(f"convex-evals: {sentence}")
