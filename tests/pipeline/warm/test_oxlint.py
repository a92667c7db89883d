"""An oxlint kept warm reports what a cold one reports, and nothing passes from one answer to the next."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from tests.pipeline.warm.answers import written

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.pipeline.lint.step import run_oxlint
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck import make_checked_copy

RIGHT = {"convex/a.ts": "export const one = 1;\n"}
LOOSE = {"convex/a.ts": "async function wait() {}\nexport function go() {\n  wait();\n}\n"}
OTHERS: tuple[Mapping[str, str], ...] = (
    {"convex/a.ts": "export const one: any = 1;\ndebugger;\n", "convex/b/c.ts": "export const two: any = 2;\n"},
    {"convex/a.ts": "export const = ;\n"},  # no program at all
    {"convex/a.ts": f"export const texts = [{', '.join(['<any>1'] * 4000)}];\n"},  # more than a socket holds
    {"convex/\N{SNOWMAN}.ts": 'export const text: any = "\\0";\n'},
    {"convex/a.ts": 'export const first = [1].first();\nimport { one } from "../../../0/checked/convex/a";\none;\n'},
)


async def linted(tools: Tools, folder: Path, files: Mapping[str, str]) -> tuple[list[Diagnostic], str]:
    """What oxlint finds in an answer, and the log."""
    workspace = written(tools, folder, files)
    step, copy = RunningStep("eslint", workspace, tools), make_checked_copy(workspace.project, workspace.checked)
    found = await run_oxlint(step, copy.folder, copy.areas[0])
    return sorted(found, key=lambda each: (each.file, each.line, each.column, each.name)), step.log.read_text()


async def test_findings_are_the_same_warm_and_cold(grading_tools: Tools, tools: Tools, tmp_path: Path) -> None:
    for number, files in enumerate((RIGHT, LOOSE, *OTHERS, RIGHT, LOOSE)):
        by_warm, log = await linted(grading_tools, tmp_path / "warm" / str(number), files)
        by_cold, cold_log = await linted(tools, tmp_path / "cold" / str(number), files)
        assert by_warm == by_cold, files
        assert bool(by_warm) == (files is not RIGHT)
        assert "(warm process)" in log and "$ oxlint" in log and "(warm process)" not in cold_log
    (process,) = grading_tools.oxlint._processes.values()
    assert process.jobs == len(OTHERS) + 4
    assert not [*(process.folder / "jobs").iterdir()]


async def test_an_oxlint_that_died_is_replaced_and_its_job_done_by_a_cold_one(
    grading_tools: Tools, tmp_path: Path
) -> None:
    await linted(grading_tools, tmp_path / "first", RIGHT)
    (process,) = grading_tools.oxlint._processes.values()
    os.kill(process.process.process.pid, signal.SIGKILL)
    found, log = await linted(grading_tools, tmp_path / "second", LOOSE)
    assert [each.name for each in found] == ["@typescript-eslint/no-floating-promises"]
    assert "the warm oxlint gave up" in log
    assert "(warm process)" in (await linted(grading_tools, tmp_path / "third", RIGHT))[1]
