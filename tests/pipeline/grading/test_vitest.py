"""A suite written elsewhere: its vitest graders run as they are."""

import shutil
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.examples import examples

from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.grading import GradedDeployment, GraderResult
from convex_evals.suite import Eval, load_suite

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOREIGN = Path(__file__).parent / "foreign_suite"
ANSWER = FOREIGN / "evals/000-notes/000-crud/answer"
GONE = GradedDeployment("http://127.0.0.1:9", "http://127.0.0.1:9", "key")

Grade = Callable[..., Awaitable[GraderResult]]
Deploy = Callable[[Path], GradedDeployment]
Rewrite = Callable[[str], Eval]


@pytest.fixture(scope="module")
def answer(deploy: Deploy) -> GradedDeployment:
    return deploy(ANSWER)


@pytest.fixture(scope="module")
def wrong_answer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists notes in the wrong order and declares one function too many."""
    folder = tmp_path_factory.mktemp("wrong") / "project"
    shutil.copytree(ANSWER, folder)
    notes = folder / "convex/notes.ts"
    text = notes.read_text().replace('.query("notes").collect()', '.query("notes").order("desc").collect()')
    notes.write_text(text + "\nexport const more = query({ args: {}, handler: () => null });\n")
    return folder


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    copy = tmp_path / "suite"
    shutil.copytree(FOREIGN, copy)
    return copy


@pytest.fixture
def rewrite(suite: Path) -> Rewrite:
    """The foreign eval with another grader."""

    def rewrite(tests: str) -> Eval:
        imports = (
            'import { beforeAll, expect, test } from "vitest";\nimport { client, query } from "../../../grader";\n'
        )
        grader = suite / "evals/000-notes/000-crud/grader.test.ts"
        grader.write_text(imports + textwrap.dedent(tests))
        return only_eval(suite)

    return rewrite


def only_eval(suite: Path) -> Eval:
    [eval] = load_suite(suite / "evals").evals
    return eval


@pytest.mark.exhaustive
async def test_the_reference_answer_passes(grade: Grade, answer: GradedDeployment) -> None:
    result = await grade(only_eval(FOREIGN), answer, answer, files=ANSWER)
    assert result.step.status == "passed", result.step.log.read_text()
    assert (result.tests.passed, result.tests.total) == (8, 8)
    assert sorted(path.name for path in FOREIGN.iterdir()) == ["README.md", "evals", "grader"]


async def test_a_wrong_answer_fails_where_it_is_wrong(
    grade: Grade, deploy: Deploy, answer: GradedDeployment, wrong_answer: Path
) -> None:
    result = await grade(only_eval(FOREIGN), deploy(wrong_answer), answer, files=wrong_answer)
    assert (result.step.status, result.step.failure) == ("failed", "tests-failed")
    assert (result.tests.passed, result.tests.total) == (5, 8)
    assert "✗ declarations > functions" in result.step.excerpt
    assert (
        "✗ notes > are listed, oldest first, like a\n  AssertionError: expected [ 'second', 'a' ] to deeply equal"
        in (result.step.excerpt)
    )
    failed = {test.name: test for test in result.step.diagnostics}
    assert list(failed) == [
        "declarations > functions",
        "notes > are listed, oldest first, like a",
        "notes > are listed, oldest first, like b",
    ]
    order = failed["notes > are listed, oldest first, like a"]
    assert (order.expected, order.received) == ("[ 'a', 'second' ]", "[ 'second', 'a' ]")
    assert (order.place, order.assertion) == ("grader.test.ts:38", 'expect(texts).toEqual([text, "second"]);')
    assert order.message == "expected [ 'second', 'a' ] to deeply equal [ 'a', 'second' ]"
    declared = failed["declarations > functions"]
    assert "…" in declared.message
    assert declared.expected is not None and declared.received is not None
    assert [line for line in declared.received.splitlines() if line not in declared.expected.splitlines()] == [
        '    "identifier": "notes.js:more",',
    ]
    statuses = [(test.status, test.duration_ms > 0) for test in result.step.test_results]
    assert statuses.count(("passed", True)) == 5


async def test_a_suite_uses_its_own_packages_and_configuration_and_code_compiled_by_the_run_that_names_the_tests(
    grade: Grade, rewrite: Rewrite, suite: Path, answer: GradedDeployment, grading_toolchain: Toolchain
) -> None:
    (suite / "node_modules").symlink_to(grading_toolchain.packages.node_modules)
    (suite / "package.json").write_text('{"type": "module"}')
    (suite / "vitest.config.ts").write_text('export default { test: { env: { FROM: "the suite" } } };')
    eval = rewrite("""
        import { readdirSync, writeFileSync } from "node:fs";
        const kept = process.env.NODE_COMPILE_CACHE!;
        test("configured", () => { expect(process.env.FROM).toBe("the suite"); });
        test("it is there", () => { expect(readdirSync(kept, { recursive: true }).length).toBeGreaterThan(1); });
        test("it stays as it is", () => { expect(() => writeFileSync(`${kept}/mine`, "")).toThrow("EACCES"); });
    """)
    result = await grade(eval, answer, answer, files=ANSWER)
    assert result.step.status == "passed", result.step.log.read_text()


@dataclass(frozen=True)
class Case:
    tests: str
    failure: str
    excerpt: str
    passed: int = 0
    total: int = 1
    more: str = ""


BAD: dict[str, Case] = {
    "each test is judged by itself": Case(
        """
        import { readFileSync } from "node:fs";
        test("ran", () => {});
        test("asks for what is not there", async () => { await client.query(query("notes:nope"), {}); });
        test.skip("is skipped", () => {});
        test("reads nothing but its business and reaches no other port", async () => {
          expect(() => readFileSync("/etc/shadow")).toThrow("permission denied");
          await expect(fetch("http://192.0.2.1/")).rejects.toThrow();
        });
        """,
        "tests-failed",
        "✗ is skipped\n  skipped, which is not a pass",
        passed=2,
        total=4,
        more="Could not find public function for 'notes:nope'",
    ),
    "a test left out by another does not pass": Case(
        'test.only("ran", () => {});\ntest("it", () => {});', "tests-failed", "✗ it\n  skipped", passed=1, total=2
    ),
    "a failing preparation fails every test": Case(
        'beforeAll(() => { throw new Error("not ready"); });\ntest("it", () => {});',
        "tests-failed",
        "✗ it\n  not ready",
    ),
    "a file that cannot be loaded with this answer fails": Case(
        """
        if (!process.env.MODEL_OUTPUT_DIR?.endsWith("answer")) throw new Error("where is it?");
        test("it", () => {});
        """,
        "tests-failed",
        "✗ it\n  where is it?",
    ),
    "a slow test fails": Case('test("it", () => new Promise(() => {}));', "tests-failed", "Test timed out in 5000ms"),
    "a grader that can never be loaded is broken": Case(
        'import "./missing";\ntest("it", () => {});', "grader-broken", "Cannot find module './missing'", total=0
    ),
    "a grader without tests is broken": Case("", "grader-broken", "No test suite found", total=0),
    "a test cannot kill the process that judges it": Case(
        'test("it", () => { process.kill(process.ppid, "SIGKILL"); return new Promise(() => {}); });',
        "tests-failed",
        "Test timed out",
    ),
    "an error outside of tests contradicts their success": Case(
        'test("it", () => { void Promise.reject(new Error("lost")); });',
        "grader-crashed",
        "the report asks for exit code 0, but the grader ended with exit code 1",
        passed=1,
    ),
}


BAD_ALWAYS = {
    "each test is judged by itself",
    "a grader that can never be loaded is broken",
    "an error outside of tests contradicts their success",
}


@pytest.mark.parametrize("name", examples(BAD, BAD_ALWAYS))
async def test_what_does_not_pass_is_told_apart(
    grade: Grade, rewrite: Rewrite, answer: GradedDeployment, name: str, tmp_path: Path
) -> None:
    case = BAD[name]
    result = await grade(rewrite(case.tests), answer, answer, files=tmp_path, test_seconds=5.0)
    assert case.excerpt in result.step.excerpt and case.more in result.step.excerpt, result.step.log.read_text()
    assert (result.step.failure, result.tests.passed, result.tests.total) == (case.failure, case.passed, case.total)


async def test_a_deployment_that_is_gone_is_infrastructure(
    grade: Grade, rewrite: Rewrite, answer: GradedDeployment
) -> None:
    eval = rewrite('test("it", async () => { await client.query(query("notes:list"), {}); });')
    result = await grade(eval, GONE, answer, files=ANSWER)
    assert (result.step.failure, result.step.status) == ("deployment-lost", "infrastructure")
    assert "http://127.0.0.1:9 does not answer" in result.step.excerpt


async def test_a_grader_that_does_not_end_is_stopped(grade: Grade, rewrite: Rewrite, answer: GradedDeployment) -> None:
    eval = rewrite('test("it", () => { if (process.env.MODEL_OUTPUT_DIR) for (;;); });')
    result = await grade(eval, answer, answer, files=ANSWER, test_seconds=1.0, grader_seconds=4.0)
    assert result.step.failure == "grader-hangs"
