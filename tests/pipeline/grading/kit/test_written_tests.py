"""The fixture `written_tests`: tests that a model wrote, run on right and wrong variants of what they test."""

import textwrap
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from tests.examples import examples, exhaustively

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import Output, ProcessResult, Usage
from convex_evals.pipeline.grading import GraderResult
from convex_evals.pipeline.grading.vitest import written
from convex_evals.suite import Eval

pytestmark = pytest.mark.asyncio(loop_scope="session")

WriteEval = Callable[..., Eval]
Grade = Callable[..., Awaitable[GraderResult]]
Try = Callable[..., Awaitable[GraderResult]]

GIVEN = {
    "convex/schema.ts": """\
        import { defineSchema, defineTable } from "convex/server";
        import { v } from "convex/values";
        export default defineSchema({ notes: defineTable({ text: v.string() }) });
        """,
    "convex/notes.ts": """\
        import { v } from "convex/values";
        import { internal } from "./_generated/api";
        import { internalMutation, mutation, query } from "./_generated/server";
        export const add = internalMutation({
          args: { text: v.string() },
          handler: async (ctx, { text }) => await ctx.db.insert("notes", { text: text.trim() }),
        });
        export const addLater = mutation({
          args: { text: v.string() },
          handler: async (ctx, args) => { await ctx.scheduler.runAfter(60_000, internal.notes.add, args); },
        });
        export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").collect() });
        """,
}
GENERATED = {
    "convex/_generated/api.js": """\
        import { anyApi } from "convex/server";
        export const api = anyApi;
        export const internal = anyApi;
        """,
    "convex/_generated/server.js": """\
        export { internalMutationGeneric as internalMutation, mutationGeneric as mutation, queryGeneric as query }
          from "convex/server";
        """,
}
REWRITTEN = """\
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";
export const keep = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => { await ctx.db.insert("notes", { text }); },
});
export const addLater = mutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    await ctx.scheduler.runAt(Date.now() + 60_000, internal.notes.keep, { text: text.trim() });
  },
});
export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").order("asc").collect() });
"""
GRADER = """\
import pytest

from convex_evals.pipeline.grading.kit import Edit, WrittenTests

NOTES = "convex/notes.ts"
RIGHT = {"as given": [], "rewritten": "rewritten"}
WRONG = {
    "too late": [Edit(NOTES, "60_000", "61_000")],
    "too early": [Edit(NOTES, "60_000", "59_000")],
    "untrimmed": [Edit(NOTES, "text.trim()", "text")],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(written_tests: WrittenTests, name: str) -> None:
    run = written_tests.run(RIGHT | WRONG)[name]
    assert run.verdict == "passed", run.explanation


@pytest.mark.parametrize("name", WRONG)
def test_wrong(written_tests: WrittenTests, name: str) -> None:
    run = written_tests.run(RIGHT | WRONG)[name]
    assert run.verdict == "failed", f"{run.verdict} {run.explanation}"
"""
IMPORTS = """\
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { convexTest } from "convex-test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api } from "./_generated/api";
import schema from "./schema";
const modules = import.meta.glob(["./**/*.ts", "./**/*.js", "!./**/*.*.ts"]);
beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });
async function texts(milliseconds: number) {
  const t = convexTest(schema, modules);
  await t.mutation(api.notes.addLater, { text: " hi " });
  vi.advanceTimersByTime(milliseconds);
  await t.finishInProgressScheduledFunctions();
  return (await t.query(api.notes.list, {})).map(({ text }) => text);
}
"""
GOOD = """\
test("not before", async () => { expect(await texts(59_999)).toEqual([]); });
test("then", async () => { expect(await texts(60_001)).toEqual(["hi"]); });
"""


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))


@pytest.fixture
def attempt(write_eval: WriteEval, grade: Grade, tmp_path: Path) -> Try:
    """Grades tests that a model wrote."""

    async def attempt(tests: str, **options: float) -> GraderResult:
        given = {f"given/{name}": text for name, text in GIVEN.items()}
        made = write_eval({"grader.py": GRADER, "variants/rewritten/convex/notes.ts": REWRITTEN, **given})
        project = tmp_path / "project"
        write(project, {**GIVEN, **GENERATED})
        if tests:
            write(project, {"convex/notes.test.ts": IMPORTS + textwrap.dedent(tests)})
        return await grade(made, files=project, **options)

    return attempt


CONFINED = """
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
test("writes no files", () => { expect(() => writeFileSync("../here", "x")).toThrow("EACCES"); });
test("reads no secrets", () => { expect(() => readFileSync("/etc/passwd")).toThrow("EACCES"); });
test("starts no programs", () => { expect(() => execFileSync(process.execPath, ["--version"])).toThrow("EPERM"); });
test("connects to nobody", async () => {
  const connecting = new Promise((done, fail) => connect(80, "127.0.0.1").on("connect", done).on("error", fail));
  await expect(connecting).rejects.toThrow("EACCES");
});
test("sees nothing of our environment", () => { expect(process.env.SECRET_OF_OURS).toBeUndefined(); });
"""


async def test_tests_that_tell_right_from_wrong_pass_and_reach_nothing_of_ours(
    attempt: Try, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when running them takes longer than a test of the grader may: it has a limit of its own."""
    monkeypatch.setenv("SECRET_OF_OURS", "secret")
    result = await attempt(GOOD + CONFINED, test_seconds=0.5)
    assert (result.step.status, result.tests.passed, result.tests.total) == ("passed", 5, 5), result.step.excerpt
    assert result.step.log
    assert "vitest.mjs run" in result.step.log.read_text()
    assert result.step.cpu_ms > 500


async def test_a_mistake_that_no_test_notices_is_named(attempt: Try) -> None:
    result = await attempt('test("then", async () => { expect(await texts(60_001)).toEqual(["hi"]); });')
    assert result.failed == ("test_wrong[too early]",)


async def test_tests_that_compare_sources_fail_with_right_code(attempt: Try) -> None:
    result = await attempt(
        """
        test("source", () => {
          const source = readFileSync(new URL("./notes.ts", import.meta.url).pathname, "utf8");
          expect(source).toContain("60_000, internal.notes.add, args");
          expect(source).toContain("text: text.trim() })");
        });
        """
    )
    assert result.failed == ("test_right[rewritten]",)


RIGHT_FAILS = "test_right[as given]"
HOSTILE = {
    "leaves with success": 'test("a", () => { process.exit(0); });',
    "really leaves with success": 'test("a", () => { (process as any).reallyExit(0); });',
    "crashes": 'test("a", () => { process.abort(); });',
    "has no tests": "export {};",
    "skips all tests": 'test.skip("a", () => {});',
    "cannot be loaded": 'import "./nothing"; test("a", () => {});',
    "has different tests for different code": """
        const source = readFileSync(new URL("./notes.ts", import.meta.url).pathname, "utf8");
        test(String(source.length), () => {});
        """,
    "never ends": 'test("a", () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });',
}
# Vitest itself stops one that leaves; one that crashes, or cannot be loaded, leaves no report either.
HOSTILE_ALWAYS = {"really leaves with success", "has different tests for different code"}


@pytest.mark.parametrize("name", examples(HOSTILE, HOSTILE_ALWAYS))
async def test_hostile_tests_are_the_answers_failure(attempt: Try, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "never ends":
        monkeypatch.setattr(written, "SECONDS", 6.0)
    result = await attempt(HOSTILE[name])
    assert result.step.status == "failed", result.step.excerpt
    assert set(result.failed) & {RIGHT_FAILS, "test_wrong[untrimmed]"}, result.failed


FORGED = """
test("a", () => {
  const root = new URL("../..", import.meta.url).pathname;
  const config = readFileSync(root + "vitest.config.mjs", "utf8");
  const report = config.match(/writtenTests\\("([^"]+)"/)?.[1] ?? "";
  const places = readdirSync(root).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const tests = [{ name: "a", state: STATE, message: "" }];
  const forged = places.map((place) => ({ file: `${place}/a.test.ts`, problem: "", tests }));
  writeFileSync(report, JSON.stringify(forged));
  (process as any).reallyExit(CODE);
});
"""


@pytest.mark.parametrize(("state", "code"), [("passed", 0), *exhaustively(("passed", 1), ("failed", 1), ("failed", 0))])
async def test_a_forged_report_gains_nothing(attempt: Try, state: str, code: int) -> None:
    """It would have to know which folders hold right code."""
    result = await attempt(FORGED.replace("STATE", f'"{state}"').replace("CODE", str(code)))
    assert result.step.status == "failed"
    assert set(result.failed) & {"test_right[rewritten]", "test_wrong[untrimmed]"}


PASSED = '[{"file": "a/it.test.ts", "problem": "", "tests": [{"name": "a", "state": "passed", "message": ""}]}]'


@pytest.mark.parametrize(
    ("report", "exit_code", "problem"),
    [
        (PASSED, 1, "the report asks for exit code 0, but the tests ended with exit code 1"),
        (PASSED.replace("passed", "failed"), 0, "the report asks for exit code 1"),
        ("[]", 0, "the report asks for exit code 1"),
        ("{}", 0, "without a report"),
        ("5", 0, "without a report"),
        ("[", 0, "without a report"),
        ('[{"file": ""}]', 0, "without a report"),
        ('[{"file": "a", "problem": "", "tests": [5]}]', 0, "without a report"),
        (PASSED.replace("a/it.test.ts", ""), 0, "without a report"),
    ],
)
async def test_a_report_that_cannot_be_read_or_contradicts_the_ending_counts_against_the_tests(
    tmp_path: Path, report: str, exit_code: int, problem: str
) -> None:
    """No test is known to bring this about: its thread ends, and vitest goes on and writes the true report."""
    (tmp_path / "report").write_text(report)
    output = Output(tmp_path, 0, b"", b"")
    ended = ProcessResult(("vitest",), exit_code, None, False, Usage(1, 1, 0, 0), output, None, 0)
    reply = written._reply(ended, tmp_path / "report", {"a": "as given"})
    assert problem in reply.problem
    assert reply.variants == {}


async def test_vitest_that_does_not_start_is_nobodys_fault(attempt: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*arguments: object, **options: object) -> None:
        raise ProcessError("no more processes")

    monkeypatch.setattr(written, "run", fails)
    result = await attempt(GOOD)
    assert (result.failed, "no more processes" in result.step.excerpt) == ((), True)


async def test_sources_that_are_too_long_are_refused(attempt: Try) -> None:
    result = await attempt(GOOD + "// " + "x" * written.MOST_BYTES)
    assert RIGHT_FAILS in result.failed
    assert "characters" in result.step.excerpt


async def test_an_edit_that_does_not_apply_is_a_broken_eval(
    write_eval: WriteEval, grade: Grade, tmp_path: Path
) -> None:
    grader = GRADER.replace('"59_000"', '"1"').replace('"60_000", "61_000"', '"70_000", "61_000"')
    variant = {"variants/rewritten/convex/notes.ts": REWRITTEN}
    made = write_eval({"grader.py": grader, "given/convex/notes.ts": GIVEN["convex/notes.ts"], **variant})
    result = await grade(made, files=tmp_path)
    assert "must contain '70_000' once" in (result.broken or "")
