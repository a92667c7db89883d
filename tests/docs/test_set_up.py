"""Setting up from nothing. Needs PyPI, or a cache of what it has; without both the tests say so and are skipped."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals import __version__

UNREACHABLE = (
    "error sending request",
    "dns error",
    "Network is unreachable",
    "Could not connect",
    "network was disabled",
)


def run(*command: str | Path, cwd: Path) -> str:
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=580)
    if result.returncode and any(sign in result.stderr for sign in UNREACHABLE):
        pytest.skip(f"PyPI cannot be reached: {result.stderr.strip().splitlines()[-1]}")
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_a_fresh_clone_sets_itself_up_on_first_use_and_only_then(clone: Path) -> None:
    assert run("./convex-evals", "--version", cwd=clone) == f"convex-evals {__version__}\n"
    installed = (clone / ".venv" / "installed.lock").stat().st_mtime_ns
    listed = run("./convex-evals", "list", cwd=clone)
    assert f"{clone}/evals" in listed
    assert (clone / ".venv" / "installed.lock").stat().st_mtime_ns == installed


class Installed:
    """The command in a fresh environment, as `pip install` gives it, called from a folder of its own."""

    def __init__(self, clone: Path, folder: Path) -> None:
        uv, environment = Path(sys.executable).parent / "uv", folder / "fresh"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        run(uv, "venv", "--python", sys.executable, environment, cwd=self.elsewhere)
        run(uv, "pip", "install", "--python", environment / "bin" / "python", clone, cwd=self.elsewhere)
        self.program, self.python = environment / "bin" / "convex-evals", environment / "bin" / "python"

    def __call__(self, *arguments: str) -> str:
        return run(self.program, *arguments, cwd=self.elsewhere)

    def results(self, *names: str) -> dict[str, dict[str, object]]:
        """By eval how the reference answers fared."""
        chosen = [argument for name in names for argument in ("--name", name)]
        self("run", "-m", "reference", *chosen, "--jobs", "1", "--json", "run.json")
        return {each["eval"]: each for each in json.loads((self.elsewhere / "run.json").read_text())["evals"]}


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_pip_install_gives_the_same_command_and_each_missing_extra_says_what_to_install(
    clone: Path, tmp_path: Path
) -> None:
    installed = Installed(clone, tmp_path)
    assert installed("--version") == f"convex-evals {__version__}\n"
    listed = installed("list")
    assert "000-empty_functions" in listed
    assert "convex_evals/_evals" in listed
    from_the_clone = run(sys.executable, "-m", "convex_evals", "--help", cwd=installed.elsewhere)
    assert installed("--help") == from_the_clone.replace("python -m convex_evals", str(installed.program))
    absent = "from importlib.util import find_spec; print(*map(find_spec, ('playwright', 'psycopg', 'pytest_timeout')))"
    assert run(installed.python, "-c", absent, cwd=installed.elsewhere) == "None None None\n"
    require_advice(installed)


def require_advice(installed: Installed) -> None:
    """Everything but pages and PostgreSQL works without extras."""
    advice = {extra: f"{installed.python} -m pip install 'convex-evals[{extra}]'" for extra in ("browser", "postgres")}
    results = installed.results("000-empty_functions", "000-use_query")
    assert {each["status"] for each in results.values()} == {"passed"}
    page = json.dumps(results["006-clients/000-use_query"])
    assert f"the extra [browser] is not installed; run: {advice['browser']}" in page
    scores = subprocess.run(
        [installed.program, "status", "--scores", "postgresql://nobody@127.0.0.1:9/scores"],
        cwd=installed.elsewhere,
        capture_output=True,
        text=True,
    )
    assert (scores.returncode, scores.stdout) == (3, "")
    assert scores.stderr == (
        "convex-evals: Scores in PostgreSQL need psycopg, but the extra [postgres] is not installed; "
        f"run: {advice['postgres']}\n"
    )
    doctor = installed("doctor", "--offline")
    assert all(f"Extra [{extra}]: {command}" in doctor for extra, command in advice.items())


def test_convex_evals_test_says_that_it_needs_a_clone(clone: Path, tmp_path: Path) -> None:
    package = tmp_path / "site-packages"
    package.mkdir()
    (clone / "src" / "convex_evals").rename(package / "convex_evals")
    command = [sys.executable, "-P", "-c", "from convex_evals.cli.main import main; main()", "test"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert result.returncode == 2
    assert result.stderr == (
        "convex-evals: `convex-evals test` checks a clone of the repository; run ./convex-evals test in one.\n"
    )
