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


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_fresh_clone_sets_itself_up_on_first_use_and_only_then(clone: Path) -> None:
    assert run("./convex-evals", "--version", cwd=clone) == f"convex-evals {__version__}\n"
    installed = (clone / ".venv" / "installed.lock").stat().st_mtime_ns
    listed = run("./convex-evals", "list", cwd=clone)
    assert f"{clone}/evals" in listed
    assert (clone / ".venv" / "installed.lock").stat().st_mtime_ns == installed


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pip_install_gives_the_same_command_with_the_evals_inside(clone: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    program = installed(clone, tmp_path / "fresh", elsewhere)
    assert run(program, "--version", cwd=elsewhere) == f"convex-evals {__version__}\n"
    listed = run(program, "list", cwd=elsewhere)
    assert "000-empty_functions" in listed
    assert "convex_evals/_evals" in listed
    ours = run(sys.executable, "-m", "convex_evals", "--help", cwd=elsewhere)
    assert run(program, "--help", cwd=elsewhere) == ours


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_extras_all_but_pages_and_postgresql_works_and_each_says_what_to_install(
    clone: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    program = installed(clone, tmp_path / "fresh", elsewhere)
    python = program.with_name("python")
    absent = "from importlib.util import find_spec; print(*map(find_spec, ('playwright', 'psycopg', 'pytest_timeout')))"
    assert run(python, "-c", absent, cwd=elsewhere) == "None None None\n"
    evals = ("--name", "000-empty_functions", "--name", "000-use_query")
    run(program, "run", "-m", "reference", *evals, "--json", "run.json", cwd=elsewhere)
    results = {each["eval"]: each for each in json.loads((elsewhere / "run.json").read_text())["evals"]}
    assert {each["status"] for each in results.values()} == {"passed"}
    advice = f"the extra [browser] is not installed; run: {python} -m pip install 'convex-evals[browser]'"
    assert advice in json.dumps(results["006-clients/000-use_query"])
    scores = subprocess.run(
        [program, "status", "--scores", "postgresql://nobody@127.0.0.1:9/scores"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
    )
    assert (scores.returncode, scores.stdout) == (3, "")
    assert scores.stderr == (
        "convex-evals: Scores in PostgreSQL need psycopg, but the extra [postgres] is not installed; "
        f"run: {python} -m pip install 'convex-evals[postgres]'\n"
    )
    doctor = run(program, "doctor", "--offline", cwd=elsewhere)
    assert f"Extra [browser]: {python} -m pip install 'convex-evals[browser]'" in doctor
    assert f"Extra [postgres]: {python} -m pip install 'convex-evals[postgres]'" in doctor


def installed(clone: Path, environment: Path, elsewhere: Path) -> Path:
    """The command in a fresh environment, as `pip install` gives it; `elsewhere` is made to call it in."""
    uv = Path(sys.executable).parent / "uv"
    elsewhere.mkdir()
    run(uv, "venv", "--python", sys.executable, environment, cwd=elsewhere)
    run(uv, "pip", "install", "--python", environment / "bin" / "python", clone, cwd=elsewhere)
    return environment / "bin" / "convex-evals"


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
