"""Help and version are asked for all the time, also by shells while one types, so they must cost next to nothing."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "asyncio",
    "httpx2",
    "numpy",
    "orjson",
    "pydantic",
    "questionary",
    "rich",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "websockets",
}
QUICK = [
    ["--version"],
    ["--help"],
    *([name, "--help"] for name in ("list", "doctor", "run", "show", "status", "test", "models", "cache", "ablate")),
]
MOST_MODULES = 200
MOST_STARTS = 25


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    program = f"import sys; from convex_evals.cli.main import run; assert run({arguments!r}) == 0; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = result.stdout.splitlines()[-1].split()
    assert not HEAVY.intersection(modules)
    assert len(modules) < MOST_MODULES


@pytest.mark.parametrize("arguments", QUICK[:2], ids=" ".join)
def test_a_command_starts_in_no_more_than_a_few_starts_of_python(arguments: list[str], tmp_path: Path) -> None:
    """That is a tenth of a second where this was written, and more on a slower machine."""
    program = Path(sys.executable).parent / "convex-evals"
    start = _cpu_seconds([sys.executable, "-c", "pass"], tmp_path)
    assert _cpu_seconds([program, *arguments], tmp_path) < MOST_STARTS * start


def _cpu_seconds(command: list[str | Path], cwd: Path) -> float:
    """The least of several attempts, because other processes on the machine only ever add to it."""
    return min(_cpu_seconds_once(command, cwd) for _ in range(5))


def _cpu_seconds_once(command: list[str | Path], cwd: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
