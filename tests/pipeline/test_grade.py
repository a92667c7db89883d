"""Gradings as a whole: the reference answer, the grader, other backends, a suite's own lint rules."""

import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.backend.admin_keys import LOCAL_ADMIN_KEY
from convex_evals.backend.deployment import Deployment
from convex_evals.core.steps import StepResult
from convex_evals.core.verdicts import GATES, STEPS, StepName
from convex_evals.pipeline.deploy.backends import OFFICIAL_PROGRAM
from convex_evals.pipeline.grade import CHECKS, Backends, Grading, grade
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.suite import Eval

MANIFEST = '{"private": true, "dependencies": {"convex": "1.44.0"}}'
ONE = 'import { query } from "./_generated/server";\nexport const one = query({ args: {}, handler: () => %s });\n'
PROJECT = {"package.json": MANIFEST, "convex/index.ts": ONE % "1"}
GRADER = """
def test_one_is_one(project):
    assert project.query("index:one") == 1

def test_the_answer_says_so_too(project, answer):
    assert answer.query("index:one") == 1
"""

pytestmark = pytest.mark.asyncio(loop_scope="session")

GradeFiles = Callable[..., Awaitable[Grade]]
WriteEval = Callable[..., Eval]


def shown(result: Grade) -> list[tuple[str, str, str]]:
    return [(step.name, step.status, step.excerpt) for step in result.steps]


@pytest.mark.parametrize(("value", "status", "passed"), [("1", "passed", 2), ("2", "failed", 1)])
async def test_the_grader_decides_and_the_share_of_passing_tests_is_kept(
    shared_tools: Tools, write_eval: WriteEval, tmp_path: Path, value: str, status: str, passed: int
) -> None:
    eval = write_eval(PROJECT, grader=GRADER)
    files = {**PROJECT, "convex/index.ts": ONE % value}
    result = await grade(Assignment(eval, files, GradingOptions(), tmp_path), shared_tools)
    assert result.status == status, shown(result)
    assert result.failed_step == (None if status == "passed" else "tests")
    assert result.tests is not None
    assert (result.tests.passed, result.tests.total) == (passed, 2)


async def test_a_static_eval_is_neither_installed_nor_deployed(
    shared_tools: Tools, write_eval: WriteEval, tmp_path: Path
) -> None:
    grader = """
    def test_files_are_there(files):
        assert files is not None
    """
    eval = write_eval({"notes.md": "x"}, grader=grader, settings='{"pipeline": "static"}')
    result = await grade(Assignment(eval, {"notes.md": "text"}, GradingOptions(), tmp_path), shared_tools)
    assert result.status == "passed", shown(result)
    assert [step.status for step in result.steps] == ["passed", "skipped", "skipped", "skipped", "skipped", "passed"]


@pytest.mark.parametrize(
    ("answer", "excerpt"),
    [
        ({"package.json": MANIFEST, "convex/index.ts": "export const x = 1 +;"}, "convex/index.ts:1"),
        ({"package.json": MANIFEST, "convex/index.ts": 'throw new Error("in vain");\nexport {};'}, "in vain"),
        ({"package.json": "{"}, "package.json is not valid JSON"),
    ],
)
async def test_a_reference_answer_that_cannot_be_deployed_means_a_broken_eval_and_no_verdict(
    grade_files: GradeFiles, write_eval: WriteEval, answer: dict[str, str], excerpt: str
) -> None:
    result = await grade_files(PROJECT, write_eval(answer))
    assert result.status == "infrastructure"
    assert result.broken is not None
    assert excerpt in result.broken
    assert result.steps[2].failure == "answer-broken"
    assert result.failed_step is None


async def test_the_files_of_the_answer_that_are_deployed_can_be_chosen(
    grade_files: GradeFiles, write_eval: WriteEval
) -> None:
    eval = write_eval({**PROJECT, "convex/broken.js": "syntax error"})
    options = GradingOptions(answer_files=("*.ts", "package.json"))
    result = await grade_files(PROJECT, eval, options)
    assert result.status == "passed", shown(result)


async def test_the_answer_is_bundled_once_unless_what_was_kept_is_altered(
    grade_files: GradeFiles, write_eval: WriteEval, tools: Tools, tmp_path: Path
) -> None:
    eval = write_eval({**PROJECT, "convex/fresh.ts": f"// {tmp_path}\nexport const fresh = 1;\n"})
    folder = tools.cache / "answers"
    before = set(folder.glob("*.json"))

    async def bundled() -> int:
        shutil.rmtree(tmp_path / "workspace", ignore_errors=True)
        result = await grade_files(PROJECT, eval, only="deploy")
        assert result.status == "passed", shown(result)
        return (tmp_path / "workspace/logs/answer.log").read_text().count("--write-push-request")

    assert [await bundled(), await bundled()] == [1, 0]
    (kept,) = (path for path in set(folder.glob("*.json")) - before if b"fresh" in path.read_bytes())
    kept.write_bytes(kept.read_bytes().replace(b"fresh", b"stale"))
    assert await bundled() == 1
    assert b"stale" not in kept.read_bytes()


async def test_the_cli_is_not_needed_to_deploy(grade_files: GradeFiles) -> None:
    result = await grade_files(PROJECT)
    assert result.status == "passed", shown(result)
    assert not _uses_the_cli(result)


async def test_the_cli_can_be_asked_to_deploy_and_nothing_of_a_model_gets_into_what_is_kept(
    grade_files: GradeFiles, tools: Tools, tmp_path: Path
) -> None:
    """What the CLI compiles and generates for all comes from projects of ours. Other tests may add to it meanwhile."""
    folders = [tools.cache / name for name in ("compiled", "generated")]
    options = GradingOptions(fast_push=False)

    def kept() -> dict[Path, bytes]:
        return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}

    first = await grade_files(PROJECT, options=options)
    before = kept()
    shutil.rmtree(tmp_path / "workspace")
    second = await grade_files(
        {**PROJECT, "convex/theModelsOwn.ts": "export const theModelsOwn = 1;\n"}, options=options
    )
    after = kept()
    assert before.items() <= after.items()
    assert not [path for path, content in after.items() if b"theModelsOwn" in content]
    for result in (first, second):
        assert (result.status, _uses_the_cli(result)) == ("passed", True), shown(result)


def _uses_the_cli(result: Grade) -> bool:
    """Which is never told a key on its command line."""
    arguments = [argument for command in result.steps[2].commands for argument in command.arguments]
    assert not [argument for argument in arguments if "|" in argument or LOCAL_ADMIN_KEY in argument]
    return any("main.js" in argument for argument in arguments)


async def test_a_suites_own_lint_rules_are_run_by_eslint(
    grade_files: GradeFiles, write_eval: WriteEval, tools: Tools
) -> None:
    parser = tools.toolchain.packages.node_modules / "typescript-eslint/dist/index.js"
    rule = 'files: ["**/*.ts"], languageOptions: { parser: tseslint.parser }, rules: { "no-console": "error" }'
    config = f'import tseslint from "{parser}";\nexport default [{{ {rule} }}];\n'
    eval = write_eval(PROJECT, beside={"eslint.config.mjs": config})
    files = {**PROJECT, "convex/loud.ts": "export function shout() {\n  console.log(1);\n}\n"}
    result = await grade_files(files, eval)
    lint = result.steps[4]
    assert lint.status == "failed", shown(result)
    assert "convex/loud.ts:2:3 no-console" in lint.excerpt
    assert lint.notes == ("convex is linted by ESLint with the suite's eslint.config.mjs",)


async def test_an_eval_can_leave_a_lint_rule_out(grade_files: GradeFiles, write_eval: WriteEval) -> None:
    rule = "@typescript-eslint/no-explicit-any"
    files = {**PROJECT, "convex/loose.ts": "export const loose = (value: any): number => 1;\n"}
    lint = (await grade_files(files, write_eval(PROJECT, settings=json.dumps({"lintOff": [rule]})))).steps[4]
    assert (lint.status, lint.notes) == ("passed", (f"{rule} does not count in this eval",))


async def test_a_lint_configuration_that_cannot_be_loaded_is_not_the_models_failure(
    grade_files: GradeFiles, write_eval: WriteEval
) -> None:
    eval = write_eval(PROJECT, beside={"eslint.config.mjs": 'import "no-such-package";'})
    result = await grade_files(PROJECT, eval)
    assert (result.steps[4].status, result.steps[4].failure) == ("infrastructure", "tool-crashed")
    assert result.status == "infrastructure"


async def test_another_deployment_can_be_graded_on(grade_files: GradeFiles) -> None:
    async with Deployment.start() as deployment:
        options = GradingOptions(backend=deployment.url, admin_key=deployment.admin_key)
        result = await grade_files(PROJECT, options=options)
        assert result.status == "passed", shown(result)
        assert deployment.application is not None
        assert deployment.admin_key not in result.steps[2].log.read_text()


SCHEMA = """
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({ rows: defineTable({ %s: v.number() }) });
"""
FILLED = """
def test_a_row_stays(project):
    project.insert("rows", {"first": 1})
"""


@pytest.mark.exhaustive
async def test_what_an_eval_leaves_on_a_deployment_is_not_in_the_way_of_the_next(
    shared_tools: Tools, write_eval: WriteEval, tmp_path: Path
) -> None:
    first, second = ({**PROJECT, "convex/schema.ts": SCHEMA % field} for field in ("first", "second"))
    async with Deployment.start() as deployment:
        options = GradingOptions(backend=deployment.url, admin_key=deployment.admin_key)
        filling = await grade(
            Assignment(write_eval(first, grader=FILLED), first, options, tmp_path / "1"), shared_tools
        )
        assert filling.status == "passed", shown(filling)
        result = await grade(Assignment(write_eval(second), second, options, tmp_path / "2"), shared_tools)
        assert result.status == "passed", shown(result)


async def test_a_deployment_that_does_not_answer_is_not_the_models_failure(grade_files: GradeFiles) -> None:
    result = await grade_files(PROJECT, options=GradingOptions(backend="http://127.0.0.1:1"))
    assert (result.status, result.steps[2].failure) == ("infrastructure", "backend-failed")


@pytest.mark.exhaustive
async def test_the_official_backend_is_started_with_the_flags_it_knows(
    tools: Tools, an_eval: Eval, tmp_path: Path
) -> None:
    """Our own `convex-evals backend` has the same flags, so it can stand in for the program."""
    program = tmp_path / "bin" / OFFICIAL_PROGRAM
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m convex_evals backend "$@"\n')
    program.chmod(0o755)
    options = GradingOptions(backend="official")
    with_program = replace(tools, settings=replace(tools.settings, search_path=str(program.parent)))
    result = await grade(Assignment(an_eval, PROJECT, options, tmp_path / "one"), with_program)
    assert result.status == "passed", shown(result)
    without = replace(tools, settings=replace(tools.settings, search_path=str(tmp_path)))
    result = await grade(Assignment(an_eval, PROJECT, options, tmp_path / "two"), without)
    assert result.steps[2].failure == "backend-failed"
    assert OFFICIAL_PROGRAM in result.steps[2].excerpt


@pytest.mark.parametrize(
    ("only", "ran"),
    [
        ("deploy", {"filesystem", "install", "deploy"}),
        ("eslint", {"filesystem", "install", "deploy", "eslint"}),
        ("filesystem", {"filesystem"}),
    ],
)
async def test_a_single_step_is_graded_with_nothing_but_what_must_come_before_it(
    shared_tools: Tools, write_eval: WriteEval, tmp_path: Path, only: StepName, ran: set[str]
) -> None:
    eval = write_eval(PROJECT, grader=GRADER)
    result = await grade(Assignment(eval, PROJECT, GradingOptions(), tmp_path, only), shared_tools)
    assert {step.name for step in result.steps if step.status == "passed"} == ran, shown(result)
    assert all(step.status in ("passed", "skipped") for step in result.steps), shown(result)


STORING = """
import { mutation } from "./_generated/server";
import { v } from "convex/values";

export const keep = mutation({
  args: { text: v.string(), fail: v.boolean() },
  handler: async (ctx, args) => {
    const id = await ctx.storage.store(new Blob([args.text], { type: "text/plain" }));
    const blob = await ctx.storage.get(id);
    if (args.fail) throw new Error(`after ${await blob?.text()}`);
    return { id, text: await blob?.text(), type: blob?.type };
  },
});
"""
STORED = """
import pytest

from convex_evals.pipeline.grading.kit import CallFailed


def test_a_mutation_stores_a_file_and_reads_it(project):
    stored = project.mutation("index:keep", {"text": "hello", "fail": False})
    assert (stored["text"], stored["type"]) == ("hello", "text/plain")
    assert [file.id for file in project.storage.files()] == [stored["id"]]


def test_a_mutation_that_fails_stores_nothing(project):
    with pytest.raises(CallFailed, match="after hello"):
        project.mutation("index:keep", {"text": "hello", "fail": True})
    assert project.storage.files() == []
"""


async def test_mutations_of_new_libraries_store_files(
    shared_tools: Tools, write_eval: WriteEval, tmp_path: Path
) -> None:
    manifest = '{"private": true, "dependencies": {"convex": "1.48.0"}}'
    files = {"package.json": manifest, "convex/index.ts": STORING}
    eval = write_eval(files, grader=STORED)
    result = await grade(Assignment(eval, files, GradingOptions(), tmp_path), shared_tools)
    assert result.status == "passed", shown(result)


async def test_every_step_is_a_gate_or_in_the_table_of_checks() -> None:
    assert (*GATES, *CHECKS) == STEPS


async def test_a_step_that_is_added_to_the_table_is_graded_with_the_others(
    shared_tools: Tools, write_eval: WriteEval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(grading: Grading, step: RunningStep, backends: Backends | None) -> StepResult:
        return step.failed("lint-findings", "Spelled wrong.")

    monkeypatch.setattr("convex_evals.pipeline.grade.CHECKS", {**CHECKS, "spelling": refuse})
    monkeypatch.setattr("convex_evals.pipeline.grade.STEPS", (*STEPS, "spelling"))
    result = await grade(Assignment(write_eval(PROJECT), PROJECT, GradingOptions(), tmp_path), shared_tools)
    assert (result.status, result.failed_step) == ("failed", "spelling")
    assert [(step.name, step.status) for step in result.steps][-2:] == [("tests", "passed"), ("spelling", "failed")]
