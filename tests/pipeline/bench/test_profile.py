"""What each program of a grading costs."""

import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from convex_evals.core.processes import base_environment, endings_recorded, run
from convex_evals.core.steps import Command, StepResult
from convex_evals.pipeline.bench.profile import (
    OUTSIDE,
    OWN,
    SUPERVISORS,
    Profiler,
    Stacks,
    draw,
    program_of,
    stacks_sampled,
    write_flame_graph,
)
from convex_evals.pipeline.types import Grade

BUSY = "import time\nwhile time.process_time() < 0.3: pass"
SVG = "{http://www.w3.org/2000/svg}"
STACKS = Stacks(
    Counter(
        {
            ("asyncio.run", "convex_evals.pipeline.grade.grade", "json.loads"): 6,
            ("asyncio.run", "convex_evals.pipeline.grade.grade"): 2,
            ("asyncio.run", "<frozen> & others"): 2,
        }
    )
)


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


def busy(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_function_that_is_busy_is_seen_with_its_callers() -> None:
    with stacks_sampled() as stacks:
        busy(0.3)
    ours = [stack for stack in stacks.counts if any(name.endswith("test_profile.busy") for name in stack)]
    assert sum(stacks.counts[stack] for stack in ours) > stacks.total / 2 > 0
    caller = test_a_function_that_is_busy_is_seen_with_its_callers.__name__
    assert all(stack[-2].endswith(caller) for stack in ours if stack[-1].endswith(".busy"))


def test_nothing_is_sampled_afterwards() -> None:
    with stacks_sampled() as stacks:
        pass
    seen = stacks.total
    busy(0.05)
    assert stacks.total == seen


def test_time_belongs_to_the_innermost_function_of_ours() -> None:
    assert STACKS.own() == {"convex_evals.pipeline.grade.grade": 8, OUTSIDE: 2}


def test_folded_stacks_are_written_beside_the_picture(tmp_path: Path) -> None:
    folded = write_flame_graph(STACKS, "title", tmp_path / "graph.svg")
    assert folded == tmp_path / "graph.folded"
    assert "asyncio.run;convex_evals.pipeline.grade.grade;json.loads 6\n" in folded.read_text()
    assert ElementTree.parse(tmp_path / "graph.svg").getroot().tag == f"{SVG}svg"


def test_boxes_are_as_wide_as_their_share() -> None:
    drawn = ElementTree.fromstring(draw(STACKS, "a < b"))
    widths = {
        group.findtext(f"{SVG}title"): float(rect.get("width", "0"))
        for group in drawn.iter(f"{SVG}g")
        if (rect := group.find(f"{SVG}rect")) is not None
    }
    assert widths == {
        "all: 100.0%": 1600.0,
        "asyncio.run: 100.0%": 1600.0,
        "convex_evals.pipeline.grade.grade: 80.0%": 1280.0,
        "json.loads: 60.0%": 960.0,
        "<frozen> & others: 20.0%": 320.0,
    }
