import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def planned(convex_evals: Command, hello_suite: Callable[..., Path]) -> Callable[..., list[str]]:
    hello_suite(8)

    def planned(*options: str) -> list[str]:
        shown = convex_evals("run", "-m", "reference", "--dry-run", *options)
        assert shown.returncode == 0, shown.stderr
        return [line.split()[1] for line in shown.stdout.splitlines()[1:]]

    return planned


def test_the_first_evals_can_be_chosen(planned: Callable[..., list[str]]) -> None:
    assert planned("--limit", "2") == ["000-basics/000-hello", "000-basics/001-hello"]


def test_the_same_seed_draws_the_same_sample(planned: Callable[..., list[str]]) -> None:
    first = planned("--sample", "3", "--seed", "7")
    assert len(first) == 3 and first == sorted(first)
    assert planned("--sample", "3", "--seed", "7") == first
    assert any(planned("--sample", "3", "--seed", str(seed)) != first for seed in range(5))


def test_a_sample_says_how_to_draw_it_again(convex_evals: Command, planned: Callable[..., list[str]]) -> None:
    result = convex_evals("run", "-m", "reference", "--dry-run", "--sample", "3")
    seed = result.stderr.partition("--seed ")[2].split()[0]
    drawn = [line.split()[1] for line in result.stdout.splitlines()[1:]]
    assert planned("--sample", "3", "--seed", seed) == drawn
    assert "add --sample N" in convex_evals("run", "-m", "reference", "--seed", "1").stderr


def test_models_may_be_separated_by_commas(convex_evals: Command, planned: Callable[..., list[str]]) -> None:
    shown = convex_evals("run", "-m", "reference,empty", "--limit", "1", "--dry-run").stdout
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["reference", "empty"]


def test_what_it_would_cost_is_known_without_a_key(
    convex_evals: Command, planned: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = convex_evals("run", "-m", "openai/gpt-5.2", "--limit", "1", "--dry-run")
    assert result.returncode == 0
    assert "1 answer to ask for" in result.stdout
    assert "openai/gpt-5.2 needs a key: set OPENAI_API_KEY" in result.stderr
    assert convex_evals("run", "-m", "openai/gpt-5.2", "--limit", "1").returncode == 2


def test_an_ablation_names_its_sections_and_the_total_before_it_is_paid_for(
    convex_evals: Command, planned: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = ["-m", "openai/gpt-5.2", "--dry-run", "--section", "Queries", "--section", "Files"]
    lines = convex_evals("ablate", *options).stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "nothing",
        "Queries",
        "Files",
        "all guidelines",
        "all 4 runs",
    ]
    shown = json.loads(convex_evals("ablate", *options, "--json").stdout)
    assert [each["leftOut"] for each in shown["estimates"]] == ["nothing", "Queries", "Files", "all guidelines"]
    assert shown["total"]["cost"] == pytest.approx(sum(each["cost"] for each in shown["estimates"]))
