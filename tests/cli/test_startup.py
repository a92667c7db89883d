"""Help and version are asked for all the time, also by shells while one types, so they must cost next to nothing."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "asyncio",
    "httpx",
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
CPU_SECONDS = 0.2


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    program = f"import sys; from convex_evals.cli.main import run; assert run({arguments!r}) == 0; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = result.stdout.splitlines()[-1].split()
    assert not HEAVY.intersection(modules)
    assert len(modules) < MOST_MODULES


@pytest.mark.parametrize("arguments", QUICK[:2], ids=" ".join)
def test_the_answer_costs_less_than_a_fifth_of_a_second(arguments: list[str], tmp_path: Path) -> None:
    # The least of several attempts, because other processes on the machine only ever add to it.
    assert min(_cpu_seconds(arguments, tmp_path) for _ in range(5)) < CPU_SECONDS


def _cpu_seconds(arguments: list[str], cwd: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = Path(sys.executable).parent / "convex-evals"
    subprocess.run([program, *arguments], cwd=cwd, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
