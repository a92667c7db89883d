"""What each program of a grading costs."""

import sys
from pathlib import Path

import pytest

from convex_evals.core.processes import base_environment, endings_recorded, run
from convex_evals.core.steps import Command, StepResult
from convex_evals.pipeline.bench.profile import OWN, SUPERVISORS, Profiler, program_of
from convex_evals.pipeline.types import Grade

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["/store/node_modules/@esbuild/linux-x64/bin/esbuild", "--bundle"], "esbuild"),
        (["/venv/bin/node", "/store/node_modules/oxlint/bin/oxlint", "--type-aware"], "oxlint"),
        (["/venv/bin/node", "/store/node_modules/convex/bin/main.js", "dev"], "convex"),
        (["/venv/bin/node", "--permission", "--allow-fs-read=/a/*", "/runtime/js/functions.mjs"], "functions.mjs"),
        (["/venv/bin/python3.11", "-c", "pass"], "python3.11"),
        (["pytest", "/suite/grader.py"], "pytest"),
    ],
)
def test_a_program_is_called_by_its_name(arguments: list[str], program: str) -> None:
    assert program_of(arguments) == program


async def run_busy(tmp_path: Path) -> tuple[str, ...]:
    result = await run([sys.executable, "-c", BUSY], cwd=tmp_path, timeout=30, environment=base_environment(tmp_path))
    assert result.ok
    return result.arguments


async def test_endings_are_recorded_with_what_watching_cost(tmp_path: Path) -> None:
    with endings_recorded() as ended:
        arguments = await run_busy(tmp_path)
    await run_busy(tmp_path)
    [program] = ended
    assert program.arguments == arguments
    assert program.ended.usage.cpu >= 0.3
    assert 0 < program.ended.supervision < program.ended.usage.cpu


async def test_programs_of_steps_others_and_our_own_time_are_told_apart(tmp_path: Path) -> None:
    profiler = Profiler()
    with profiler.running():
        await run_busy(tmp_path)
        commands = (Command(("/store/bin/tsc", "--noEmit"), "exit code 0", 120.0, 100.0),)
        profiler.add(Grade("000-a/000-b", "passed", (StepResult("tsc", "passed", commands=commands),)))
    profile = profiler.profile()
    shares = {(share.step, share.process): share for share in profile.shares}
    assert shares["tsc", "tsc"].cpu_ms == 100.0
    assert shares[None, Path(sys.executable).name].cpu_ms >= 300
    assert shares[None, SUPERVISORS].times == 1
    assert shares[None, OWN].cpu_ms > 0
    assert profile.cpu_ms == pytest.approx(sum(share.cpu_ms for share in profile.shares))
    assert profile.to_json()["processes"][0]["process"] == Path(sys.executable).name
