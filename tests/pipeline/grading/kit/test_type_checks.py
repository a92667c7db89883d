"""The fixture `type_checks`: code of a grader's, compiled with what a model wrote."""

import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from convex_evals.core.errors import ProcessError
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.grading import GraderResult
from convex_evals.pipeline.grading.python import grader
from convex_evals.suite import Eval

pytestmark = pytest.mark.asyncio(loop_scope="session")

WriteEval = Callable[..., Eval]
Grade = Callable[..., Awaitable[GraderResult]]
Try = Callable[..., Awaitable[GraderResult]]

GRADER = """\
import pytest

from convex_evals.pipeline.grading.kit import TypeChecks

RIGHT = {
    "a name that is there": 'import { pick } from "./lib";\\nconst unused: number = pick({ a: 1 }, "a");\\n',
    "the same names again": 'import { pick } from "./lib";\\nconst unused: string = pick({ b: "1" }, "b");\\n',
}
WRONG = {"a name that is not there": 'import { pick } from "./lib";\\n\\npick({ a: 1 }, "b");\\n'}


@pytest.mark.parametrize("name", RIGHT)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(RIGHT | WRONG)[name] == ()


@pytest.mark.parametrize("name", WRONG)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    error, = type_checks.errors(RIGHT | WRONG)[name]
    assert error.startswith("line 3: TS2345: Argument of type")
"""
TYPED = "export const pick = <T, K extends keyof T>(from: T, name: K): T[K] => from[name];\n"
LOOSE = "export const pick = (from: any, name: string): any => from[name];\n"
TOO_TIGHT = "export const pick = (from: { a: number }, name: 'a'): number => from[name];\n"
IGNORED = "// @ts-ignore\nexport const pick: <T, K extends keyof T>(from: T, name: K) => T[K] = 5;\n"
UNUSED = '{"compilerOptions": {"noUnusedLocals": true, "strict": false}}'


@pytest.fixture
def attempt(write_eval: WriteEval, grade: Grade, tmp_path: Path, grading_toolchain: Toolchain) -> Try:
    """Grades `lib.ts`, by a grader that compiles calls of it."""

    async def attempt(lib: str, *, grader: str = GRADER, tsconfig: str | None = None) -> GraderResult:
        folder = tmp_path / "project" / "convex"
        folder.mkdir(parents=True)
        (folder / "lib.ts").write_text(textwrap.dedent(lib))
        if tsconfig is not None:
            (folder / "tsconfig.json").write_text(tsconfig)
        (tmp_path / "project" / "node_modules").symlink_to(grading_toolchain.packages.node_modules)
        return await grade(write_eval({"grader.py": grader}), files=tmp_path / "project")

    return attempt


@pytest.mark.parametrize("tsconfig", [None, UNUSED])
async def test_what_compiles_and_what_does_not_is_told_apart(attempt: Try, tsconfig: str | None) -> None:
    graded = await attempt(TYPED, tsconfig=tsconfig)
    assert (graded.step.status, graded.tests.passed) == ("passed", 3), graded.step.excerpt


@pytest.mark.parametrize(
    ("lib", "failed"),
    [
        (LOOSE, {"test_does_not_compile[a name that is not there]"}),
        (TOO_TIGHT, {"test_compiles[the same names again]"}),
        ("", {"test_compiles[a name that is there]", "test_compiles[the same names again]"}),
    ],
)
async def test_types_that_are_too_loose_or_too_tight_fail(attempt: Try, lib: str, failed: set[str]) -> None:
    graded = await attempt(lib)
    assert graded.step.status == "failed"
    assert failed <= set(graded.failed)


async def test_errors_in_what_the_model_wrote_are_for_the_step_tsc(attempt: Try) -> None:
    graded = await attempt(IGNORED)
    assert graded.step.status == "passed", graded.step.excerpt


async def test_a_compiler_that_does_not_start_is_not_the_models_fault(
    attempt: Try, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_process(*_: object, **__: object) -> None:
        raise ProcessError("no more processes")

    monkeypatch.setattr(grader, "run", no_process)
    graded = await attempt(TYPED)
    assert (graded.step.status, graded.broken) == ("infrastructure", None)


MANY = """\
from convex_evals.pipeline.grading.kit import TypeChecks

LONG = " & ".join(f'{{ field{number}: "a" }}' for number in range(60))
SNIPPETS = {str(n): f'import {{ pick }} from "./lib";\\npick({{}} as {LONG}, "field{n}x");\\n' for n in range(60)}


def test_every_one_is_refused(type_checks: TypeChecks) -> None:
    assert [name for name, errors in type_checks.errors(SNIPPETS).items() if not errors] == []
"""


async def test_no_error_is_lost_however_much_the_compiler_says(attempt: Try) -> None:
    graded = await attempt(TYPED, grader=MANY)
    assert graded.step.status == "passed", graded.step.excerpt
