"""Answers that try to read, hide or break: each is graded for real, and gets the verdict that it deserves."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.examples import exhaustively

from convex_evals.core.steps import StepResult
from convex_evals.pipeline.types import Grade, GradingOptions

MANIFEST = '{"private": true, "dependencies": {"convex": "1.44.0"}}'
MODULE = (
    'import { query } from "./_generated/server";\nexport const nothing = query({ args: {}, handler: () => null });\n'
)
PLAIN = {"package.json": MANIFEST, "convex/index.ts": MODULE}
WRONG = "export const one: number = 'two';\n"
GradeFiles = Callable[..., Awaitable[Grade]]


def step_of(grade: Grade, name: str) -> StepResult:
    return next(step for step in grade.steps if step.name == name)


def shown(grade: Grade) -> list[tuple[str, str, str | None, str]]:
    return [(step.name, step.status, step.failure, step.excerpt) for step in grade.steps]


def logs(grade: Grade) -> str:
    return "".join(step.log.read_text(errors="replace") for step in grade.steps)


# ---------------------------------------------------------------- reading what is not theirs

CANARY = "canary-of-the-reference"


TOGETHER = {
    "convex/index.ts": 'export * from "%(outside)s/secret";\n',
    "convex/data.ts": 'import data from "%(outside)s/secret.json";\nexport const a = data;\n',
    "convex/all.ts": "export const all = (name: string) => import(`../../../outside/${name}.json`);\n",
    "convex/mapped.ts": f"{MODULE}//# sourceMappingURL=%(outside)s/secret.json\n",
    "convex/aliased.ts": 'export * from "~/secret";\n',
    "convex/imported.ts": 'export * from "#secret";\n',
    "convex/tsconfig.json": '{"compilerOptions": {"paths": {"~/*": ["%(outside)s/*"]}}}',
    "package.json": '{"dependencies": {"convex": "1.44.0"}, "imports": {"#secret": "../../outside/secret.ts"}}',
}
REFUSED = ["index.ts", "data.ts", "aliased.ts", "imported.ts"]


@pytest.mark.parametrize(
    ("files", "refused", "fast"),
    [
        (TOGETHER, REFUSED, True),
        ({"convex/index.ts": MODULE, "convex/tsconfig.json": '{"extends": "%(outside)s/secret.json"}'}, [], True),
        *exhaustively(
            (TOGETHER, REFUSED, False),
            ({"convex/index.ts": 'export * from "../../../outside/secret";\n'}, ["index.ts"], True),
            ({"convex/index.ts": 'import a from "%(outside)s/secret.txt";\nexport const b = a;\n'}, ["index.ts"], True),
            ({"tsconfig.json": '{"extends": "%(outside)s/secret.json"}'}, [], True),
            ({"convex/tsconfig.json": '{"extends": "/etc/passwd"}'}, [], True),
            ({"convex/tsconfig.json": '{"extends": "/etc/passwd"}'}, [], False),
            ({"convex/all.ts": TOGETHER["convex/all.ts"], "convex/mapped.ts": TOGETHER["convex/mapped.ts"]}, [], True),
            ({"convex/index.ts": f'/// <reference path="%(outside)s/secret.ts" />\n{MODULE}'}, [], True),
        ),
    ],
)
async def test_no_tool_reads_or_quotes_a_file_outside_the_project(
    grade_files: GradeFiles, tmp_path: Path, files: dict[str, str], refused: list[str], fast: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.ts").write_text(f'export const secret = "{CANARY}";\n')
    (outside / "secret.json").write_text(f'{{"secret": "{CANARY}" oops')
    (outside / "secret.txt").write_text(CANARY)
    texts = {name: text.replace("%(outside)s", str(outside)) for name, text in files.items()}
    grade = await grade_files({**PLAIN, **texts}, options=GradingOptions(fast_push=fast))
    assert grade.status in {"passed", "failed"}, shown(grade)
    assert CANARY not in logs(grade)
    assert "root:x:0" not in logs(grade)
    if refused:
        assert grade.failed_step == "deploy", shown(grade)
        assert [name for name in refused if f"convex/{name}:" not in logs(grade)] == []


async def test_the_reference_answer_is_in_no_folder_of_the_grading(grade_files: GradeFiles, tmp_path: Path) -> None:
    grade = await grade_files({**PLAIN, "convex/index.ts": 'export * from "../../answer/convex/index";\n'})
    assert (grade.status, grade.failed_step) == ("failed", "deploy"), shown(grade)
    assert not list((tmp_path / "workspace").glob("**/answer/convex"))


# ---------------------------------------------------------------- switching checks off


def options(**values: object) -> str:
    modern = {"target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler"}
    return json.dumps({"compilerOptions": {**modern, **values}})


LENGTH = "export const size = (text: string | null): number => text.length;\n"
NO_SUCH = 'import { v } from "convex/values";\nexport const one = () => v.nothing();\n'
JAVASCRIPT = "/** @type {number} */\nexport const one = 'two';\n"
STUB = "export declare const v: { nothing(): number };\n"
SUFFIXED = {
    "convex/wrong.ts": 'import { one } from "./one";\nexport const two: string = one;\n',
    "convex/one.ts": "export const one: number = 1;\n",
    "convex/one.fake.ts": "export const one: string = 'one';\n",
}
LIBRARY = f'/// <reference no-default-lib="true"/>\n/// <reference lib="esnext"/>\n{WRONG}'
UNCHECKED = {"noCheck": True, "strict": False, "strictNullChecks": False}


@pytest.mark.parametrize(
    "files",
    [
        {
            "convex/nocheck_wrong.ts": f"// @ts-nocheck\n{WRONG}",
            "convex/ignore_wrong.ts": f"// @ts-ignore\n{WRONG}",
            "shared/wrong.ts": f"// @ts-nocheck\n{WRONG}",
            "convex/index.ts": f'import "../shared/wrong";\n{MODULE}',
            "convex/wrong.js": JAVASCRIPT,
            "convex/hidden_wrong.d.ts": 'import { Nope } from "./nowhere";\nexport declare const one: Nope;\n',
            "convex/hidden_wrong.d.x.ts": "export declare const two: Nope;\n",
            "convex/reference_wrong.d.ts": '/// <reference types="vite/client" />\n',
            "convex/lied_to.ts": NO_SUCH,
            "convex/lie_wrong.d.ts": 'declare module "convex/values" { export const v: { nothing(): number } }\n',
            "convex/wrong (1).ts": WRONG,
        },
        {
            "convex/strict_wrong.ts": LENGTH,
            "convex/lied_to.ts": NO_SUCH,
            "convex/stub_wrong.d.ts": STUB,
            **SUFFIXED,
            "convex/tsconfig.json": options(
                **UNCHECKED, paths={"convex/values": ["./stub_wrong"]}, moduleSuffixes=[".fake", ""]
            ),
        },
        {"convex/wrong.ts": LIBRARY, "convex/tsconfig.json": options(skipDefaultLibCheck=True)},
        {"convex/wrong.ts": WRONG, "convex/tsconfig.json": '{"files": [], "include": [], "exclude": ["**/*"]}'},
        {
            "backend/index.ts": MODULE,
            "backend/wrong.ts": WRONG,
            "convex.json": '{"functions": "convex/", "functions": "backend/"}',
        },
        *exhaustively(
            {"convex/wrong.ts": WRONG, "convex/tsconfig.json": options(noCheck=True)},
            {"convex/wrong.ts": LENGTH, "convex/tsconfig.json": options(strict=False, strictNullChecks=False)},
            {
                "convex/lied_to.ts": NO_SUCH,
                "convex/stub.d.ts": STUB,
                "convex/tsconfig.json": options(paths={"convex/values": ["./stub"]}),
            },
            {**SUFFIXED, "convex/tsconfig.json": options(moduleSuffixes=[".fake", ""])},
            {"convex/wrong.ts": f"/* @TS-NoCheck */\n{WRONG}"},
            {"convex/wrong.ts": f"// @ts-expect-error because\n{WRONG}"},
            {"convex/wrong.tsx": f"/* {{/* @ts-ignore */\n{WRONG}"},
            {"convex/wrong.ts": WRONG, "convex/tsconfig.json": '{"files": [], "references": [{"path": ".."}]}'},
            {"convex/wrong.js": JAVASCRIPT, "convex/tsconfig.json": options()},
            {"convex/one.js": JAVASCRIPT, "convex/one.d.ts": "export declare const one: number;\n"},
            {"convex/lied_to.ts": NO_SUCH, "convex/values.d.ts": STUB, "convex/tsconfig.json": options(baseUrl="..")},
            {
                "convex/lied_to.ts": NO_SUCH,
                "stubs/values/index.d.ts": STUB,
                "convex/tsconfig.json": options(paths={"convex/*": ["../stubs/*"]}),
            },
            {"convex/deep/wrong.ts": WRONG, "convex/deep/tsconfig.json": options(noCheck=True)},
            {"backend/index.ts": MODULE, "backend/wrong.ts": WRONG, "convex.json": '{"functions": "backend/"}'},
        ),
    ],
)
async def test_no_answer_switches_the_type_check_off(grade_files: GradeFiles, files: dict[str, str]) -> None:
    """An error is found in each file that is called wrong."""
    grade = await grade_files({**PLAIN, **files}, only="tsc")
    tsc = step_of(grade, "tsc")
    assert (tsc.status, tsc.failure) == ("failed", "type-errors"), shown(grade)
    assert _called(files, "wrong") - {each.file for each in tsc.diagnostics} == set(), tsc.excerpt


def _called(files: dict[str, str], word: str) -> set[str]:
    return {name for name in files if word in name}


DEBUG = "export function stop() {\n  debugger;\n}\n"


HIDDEN = {
    "convex/disabled_loud.ts": f"/* eslint-disable */\n{DEBUG}",
    "convex/line_loud.ts": "export function stop() {\n  // eslint-disable-next-line\n  debugger;\n}\n",
    "convex/rule_loud.ts": f"/* eslint no-debugger: 0 */\n{DEBUG}",
    "eslint.config.js": 'export default [{ ignores: ["**/*"] }];\n',
    "convex/eslint.config.mjs": 'export default [{ ignores: ["**/*"] }];\n',
    ".oxlintrc.json": '{"ignorePatterns": ["**/*"]}',
    ".gitignore": "convex",
}
# oxlint leaves out what looks minified, and counts files of other frameworks.
OVERLOOKED = {"convex/stop_loud.min.ts": DEBUG, "convex/decoy.vue": "<script>\n</script>\n"}
HIDDEN_TOO = {
    "convex/oxlint_loud.ts": f"/* oxlint-disable no-debugger */\n{DEBUG}",
    "convex/oxlint_line_loud.ts": "export function stop() {\n  debugger; // oxlint-disable-line no-debugger\n}\n",
    ".eslintignore": "**/*",
    "convex/.gitignore": "*",
    "convex/tsconfig.json": '{"exclude": ["**/*"]}',
}


@pytest.mark.parametrize(
    ("linter", "files"),
    [
        ("oxlint", HIDDEN),
        ("oxlint", OVERLOOKED),
        *exhaustively(("eslint", HIDDEN), ("eslint", OVERLOOKED), ("oxlint", HIDDEN_TOO), ("eslint", HIDDEN_TOO)),
    ],
)
async def test_no_answer_switches_the_linter_off(grade_files: GradeFiles, files: dict[str, str], linter: str) -> None:
    """A finding is in each file that is called loud."""
    chosen = GradingOptions(linter=linter)  # type: ignore[arg-type]
    grade = await grade_files({**PLAIN, **files}, options=chosen, only="eslint")
    lint = step_of(grade, "eslint")
    assert lint.status == "failed", shown(grade)
    assert _called(files, "loud") - {each.file for each in lint.diagnostics if each.name == "no-debugger"} == set()


async def test_linter_directives_are_noted_and_text_about_directives_is_ignored(grade_files: GradeFiles) -> None:
    quoting = (
        'export const text = "// @ts-ignore and /* eslint-disable */";\nexport const more = `\n// @ts-nocheck\n`;\n'
    )
    grade = await grade_files(
        {**PLAIN, "convex/a.ts": "/* eslint-disable */\nexport const a = 1;\n", "convex/b.ts": quoting}
    )
    assert grade.status == "passed", shown(grade)
    assert step_of(grade, "eslint").notes == ("convex/a.ts(1,1): eslint-disable is ignored",)


async def test_a_name_that_oxlint_leaves_out_is_allowed(grade_files: GradeFiles) -> None:
    grade = await grade_files({**PLAIN, "convex/get_min.ts": "export const one = 1;\n"}, only="eslint")
    assert step_of(grade, "eslint").status == "passed", shown(grade)


async def test_declarations_of_ones_own_are_allowed(grade_files: GradeFiles) -> None:
    files = {
        "convex/types.d.ts": "export interface Point { x: number }\n",
        "convex/globals.d.ts": 'declare module "not-installed" { export const a: number }\n',
        "convex/use.ts": 'import type { Point } from "convex/types";\nexport const zero: Point = { x: 0 };\n',
        "convex/tsconfig.json": options(baseUrl=".."),
    }
    grade = await grade_files({**PLAIN, **files})
    assert grade.status == "passed", shown(grade)


async def test_a_directive_of_the_compiler_is_reported_with_its_place(grade_files: GradeFiles) -> None:
    grade = await grade_files({**PLAIN, "convex/a.ts": "export const a = 1;\n  // @ts-ignore\nexport const b = 2;\n"})
    assert step_of(grade, "tsc").excerpt == (
        "convex/a.ts(2,3): error TS90001: '@ts-ignore' hides errors, which is not allowed: they must be corrected."
    )


# ---------------------------------------------------------------- breaking our tools

NESTED = "(" * 3_000 + "1" + ")" * 3_000
ENDLESS = """
type Digits = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type Pair<A, B> = A extends unknown ? (B extends unknown ? [A, B] : never) : never;
type Grow<T, N extends unknown[]> = N["length"] extends 500 ? T : Grow<Pair<T, Digits>, [...N, 1]>;
export const endless: Grow<Digits, []> = 1;
"""


@pytest.mark.parametrize(
    "files",
    [
        {"convex/deep.ts": f"export const a = {NESTED};\n"},
        {"convex/deep.ts": f"export const a = {'[' * 50_000}1{']' * 50_000};\n"},
        *exhaustively(
            {"convex/deep.ts": f"export const a = {'-' * 100_000}1;\n".replace("--", "- ")},
            {"convex/types.ts": ENDLESS},
            {"convex/tsconfig.json": "\x00\x01"},
            {"convex.json": "{" * 100_000},
        ),
        {"convex/tsconfig.json": '{"extends": "./tsconfig.json"}'},
        {"convex/tsconfig.json": "{" * 100_000},
        {"convex.json": '{"functions": "backend/", "x": ' + "1" * 5_000 + "}", "backend/index.ts": MODULE},
        {"convex.json": '{"functions": "--fix"}', "--fix/index.ts": "export const a = 1 +;\n"},
        {"convex/zero.ts": "export const a = 1;\x00\x00\x00 +;\n"},
        {"convex/tsconfig.json/index.ts": "export const a = 1;\n"},
        {"convex/tsconfig.x.json/index.ts": "export const a = 1;\n"},
        {"convex.json/index.ts": MODULE},
        {"convex/new\nline.ts": MODULE},
        {"convex/\x1b[2J.ts": MODULE},
        {f"convex/{'x' * 300}.ts": MODULE},
        {"convex": "no folder", "convex/index.ts": MODULE},
        {"convex/INDEX.ts": MODULE},
        {f"convex/m{number}.ts": MODULE for number in range(10_000)},
        {"convex/line.ts": f"export const a = '{'x' * 50_000_000}';\n"},
    ],
    ids=lambda files: next(iter(files))[:20].encode("unicode_escape").decode(),
)
async def test_an_answer_that_breaks_our_tools_fails_with_a_short_message(
    grade_files: GradeFiles, files: dict[str, str]
) -> None:
    grade = await grade_files({**PLAIN, **files})
    assert grade.status == "failed", shown(grade)
    failed = next(step for step in grade.steps if step.status == "failed")
    assert failed.excerpt
    assert max(len(line) for line in failed.excerpt.splitlines()) < 700
    assert failed.excerpt.replace("\n", "").replace("\t", "").isprintable()
