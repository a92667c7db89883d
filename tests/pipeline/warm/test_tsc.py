"""A compiler kept warm finds errors where a cold one finds them, and nothing passes from one answer to the next."""

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.examples import exhaustively
from tests.pipeline.warm.answers import written

from convex_evals.core.steps import StepResult
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck import check_types, make_checked_copy
from convex_evals.pipeline.warm import tsc

RIGHT = {"convex/a.ts": 'import { v } from "convex/values";\nexport const text = v.string();\n'}
WRONG = {"convex/a.ts": 'export const one: string = "1";\nexport const two: string = 2;\n'}
AUGMENTING = "declare global {\n  interface Array<T> {\n    first(): T;\n  }\n}\nexport const one = [1].first();\n"


def configured(**options: object) -> dict[str, str]:
    common = {"module": "ESNext", "moduleResolution": "Bundler", "target": "ESNext", "jsx": "react-jsx"}
    return {"convex/tsconfig.json": json.dumps({"compilerOptions": {**common, **options}})}


# What each kind of complaint of the compiler needs, and what needs none.
ANSWERS: dict[str, tuple[Mapping[str, str], set[str]]] = {
    "right": (RIGHT, set()),
    "type": (WRONG, {"TS2322"}),
    "syntax": ({"convex/a.ts": "export const = 1;\n"}, {"TS1134"}),
    "declared twice": ({"convex/a.ts": "export const a = 1;\nexport const a = 2;\n"}, {"TS2451"}),
    "unknown package": ({"convex/a.ts": 'export * from "no-such-package";\n'}, {"TS2307"}),
    "unknown file": ({"convex/a.ts": 'export * from "./b";\n'}, {"TS2307"}),
    "in a file beside the folder": (
        {"convex/a.ts": 'export * from "../shared/b";\n', "shared/b.ts": "export const b: string = 1;\n"},
        {"TS2322"},
    ),
    "in JavaScript": ({"convex/a.js": "/** @type {string} */\nexport const a = 1;\n"}, {"TS2322"}),
    "in JSX": ({"convex/a.tsx": "export const a = <div onClick={1} />;\n"}, {"TS2322"}),
    "between two files": (
        {"convex/a.ts": "export function a(x: string) {}\n", "convex/b.ts": 'import { a } from "./a";\na(1);\n'},
        {"TS2345"},
    ),
    "an option that does not exist": ({**RIGHT, **configured(strictest=True)}, {"TS5023"}),
    "options that contradict each other": ({**RIGHT, **configured(module="CommonJS1")}, {"TS6046"}),
    "unused, which it wants to know": (
        {"convex/a.ts": "export function a() {\n  const b = 1;\n}\n", **configured(noUnusedLocals=True)},
        {"TS6133"},
    ),
    "a declaration that is wrong": ({**RIGHT, "convex/b.d.ts": "export const b: Missing;\n"}, {"TS2304"}),
    "a declaration that is not": ({**RIGHT, "convex/b.d.ts": 'interface ImportMeta { readonly b: "b" }\n'}, set()),
    "a declaration that refers to nothing": (
        {**RIGHT, "convex/b.d.ts": '/// <reference types="nothing" />\n'},
        {"TS2688"},
    ),
    "a declaration with bad syntax": ({**RIGHT, "convex/b.d.ts": "export const = 1;\n"}, {"TS1134", "TS1046"}),
    "a declaration that contradicts the language": (
        {**RIGHT, "convex/b.d.ts": "interface Array<T, U> {}\n"},
        {"TS2428"},
    ),
    "a declaration in no area": (
        {
            "convex/a.ts": 'import type { B } from "../b";\nexport const b: B = 1;\n',
            "b.d.ts": "export type B = Missing;\n",
        },
        {"TS2304"},
    ),
    "declarations of two areas": (
        {**RIGHT, "convex/b.d.ts": "export type B = number;\n", "src/b.d.ts": "export type B = Missing;\n"},
        {"TS2304"},
    ),
    "augmenting": ({"convex/a.ts": AUGMENTING}, set()),
    "relying on what another augmented": ({"convex/a.ts": "export const one = [1].first();\n"}, {"TS2339"}),
    "importing another answer": ({"convex/a.ts": 'export * from "../../../right/checked/convex/a";\n'}, {"TS2307"}),
    "right again": (RIGHT, set()),
}
ALWAYS = (
    "right",
    "type",
    "an option that does not exist",
    "a declaration that is not",
    "augmenting",
    "relying on what another augmented",
    "importing another answer",
    "right again",
)


async def checked(tools: Tools, folder: Path, files: Mapping[str, str]) -> tuple[StepResult, str]:
    """What the step says of an answer, and its log."""
    workspace = written(tools, folder, files)
    step = RunningStep("tsc", workspace, tools)
    return await check_types(step, make_checked_copy(workspace.project, workspace.checked), "7"), step.log.read_text()


def codes(result: StepResult) -> set[str]:
    return {each.name for each in result.diagnostics}


@pytest.mark.parametrize("names", [ALWAYS, *exhaustively([*ANSWERS])], ids=["examples", "all"])
async def test_every_kind_of_error_is_found_warm_and_cold(
    grading_tools: Tools, tools: Tools, tmp_path: Path, names: Sequence[str]
) -> None:
    for name in names:
        files, expected = ANSWERS[name]
        by_warm, log = await checked(grading_tools, tmp_path / "warm" / name, files)
        by_cold, cold_log = await checked(tools, tmp_path / "cold" / name, files)
        assert codes(by_cold) <= expected, name
        assert bool(codes(by_cold)) == bool(expected), name
        assert by_warm.diagnostics == by_cold.diagnostics, name
        assert "(warm process)" in log and "(warm process)" not in cold_log, name
        assert expected or "no errors in convex" in log, name


async def test_one_process_serves_answers_that_share_their_packages(grading_tools: Tools, tmp_path: Path) -> None:
    logs = [(await checked(grading_tools, tmp_path / str(number), RIGHT))[1] for number in range(3)]
    assert all("(warm process)" in log for log in logs)
    (process,) = grading_tools.tsc._processes.values()
    assert process.jobs == 3
    assert not [*(process.folder / "jobs").iterdir()]


async def test_a_compiler_that_died_is_replaced_and_its_job_done_by_a_cold_one(
    grading_tools: Tools, tmp_path: Path
) -> None:
    await checked(grading_tools, tmp_path / "first", RIGHT)
    (process,) = grading_tools.tsc._processes.values()
    os.kill(process.process.process.pid, signal.SIGKILL)
    result, log = await checked(grading_tools, tmp_path / "second", WRONG)
    assert codes(result) == {"TS2322"} and "the warm tsc gave up" in log
    assert "(warm process)" in (await checked(grading_tools, tmp_path / "third", RIGHT))[1]


async def test_a_compiler_that_does_not_answer_in_time_is_stopped(
    grading_tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tsc, "JOB_SECONDS", 0.001)
    result, log = await checked(grading_tools, tmp_path / "only", RIGHT)
    assert result.status == "passed" and "no reply in time" in log
    assert not grading_tools.tsc._processes


async def test_a_compiler_that_has_grown_is_replaced(
    grading_tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tsc, "MOST_MEMORY", 1)
    await checked(grading_tools, tmp_path / "only", RIGHT)
    assert not grading_tools.tsc._processes
