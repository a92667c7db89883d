import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from convex_evals.models.cache import CachedResponse, CacheKey, ResponseCache
from convex_evals.scores import Usage

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def filled(tmp_path: Path) -> dict[str, str]:
    """A cache with three responses; the variables that make it the one that is used."""
    cache = ResponseCache(tmp_path / "cache" / "responses", print)
    for model, trial in (("openai/a", 1), ("openai/a", 2), ("openrouter/x/b", 1)):
        cache.put(CacheKey(model, {}, "p", trial), CachedResponse("Hello.", Usage(), datetime.now(UTC)))
    return {"CONVEX_EVALS_CACHE": str(tmp_path / "cache")}


def models(convex_evals: Command, variables: dict[str, str]) -> dict[str, int]:
    found = json.loads(convex_evals("cache", "list", "--json", **variables).stdout)["models"]
    return {each["model"]: each["responses"] for each in found}


def test_the_cache_is_listed_by_model(convex_evals: Command, filled: dict[str, str], tmp_path: Path) -> None:
    assert models(convex_evals, filled) == {"openai/a": 2, "openrouter/x/b": 1}
    lines = convex_evals("cache", "list", **filled).stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["openai/a", "2"], ["openrouter/x/b", "1"]]
    assert lines[3] == f"3 responses in {tmp_path / 'cache' / 'responses'}"


def test_one_model_or_everything_is_removed(convex_evals: Command, filled: dict[str, str]) -> None:
    assert convex_evals("cache", "clear", "--model", "openai/a", **filled).stdout.startswith("2 responses removed")
    assert models(convex_evals, filled) == {"openrouter/x/b": 1}
    unknown = convex_evals("cache", "clear", "--model", "openai/a", **filled)
    assert unknown.returncode == 2
    assert unknown.stderr == "convex-evals: The cache has nothing of 'openai/a'; it has: openrouter/x/b.\n"
    assert convex_evals("cache", "clear", **filled).stdout.startswith("1 response removed")
    assert models(convex_evals, filled) == {}


def test_an_empty_cache_is_not_an_error_and_creates_no_folder(convex_evals: Command, tmp_path: Path) -> None:
    result = convex_evals("cache", "list", CONVEX_EVALS_CACHE=str(tmp_path / "none"))
    responses, packages = result.stdout.splitlines()
    assert (result.returncode, responses) == (0, f"0 responses in {tmp_path / 'none' / 'responses'}")
    assert packages.startswith(f"0 sets of packages in {tmp_path / 'none' / 'projects'}: 0 of 10,000 MB")
    assert not (tmp_path / "none").exists()
