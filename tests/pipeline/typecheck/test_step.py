"""The step `tsc`, with compilers that misbehave."""

from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.core.toolchain import InstalledPackages
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck.checked import Area, CheckedCopy
from convex_evals.pipeline.typecheck.step import check_types, parse_diagnostics
from convex_evals.pipeline.workspace import Workspace

OUTPUT = """\
convex/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
  because of this
    and that
error TS2688: Cannot find type definition file for 'x'.
convex/tsconfig.json(1,2): error TS5023: Unknown compiler option 'y'.
convex/copy (1).ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
convex/b.ts(4,1): error TS2719: Type 'import("/x/node_modules/convex/server").A' is no 'import("/b").A'.
"""


def test_an_error_comes_with_the_lines_that_explain_it() -> None:
    found = parse_diagnostics(OUTPUT)
    assert [(each.file, each.line, each.column, each.name) for each in found] == [
        ("convex/a.ts", 3, 5, "TS2322"),
        (None, None, None, "TS2688"),
        ("convex/tsconfig.json", 1, 2, "TS5023"),
        ("convex/copy (1).ts", 3, 5, "TS2322"),
        ("convex/b.ts", 4, 1, "TS2719"),
    ]
    assert found[0].message.endswith("\n  because of this\n    and that")


def test_where_packages_are_installed_is_not_part_of_an_error() -> None:
    message = parse_diagnostics(OUTPUT)[-1].message
    assert message == """Type 'import("node_modules/convex/server").A' is no 'import("/b").A'."""


@pytest.mark.parametrize(
    ("script", "status", "failure"),
    [
        ("", "passed", None),
        ('console.log("convex/a.ts(1,1): error TS1: no"); process.exit(2);', "failed", "type-errors"),
        ('console.log("panic: out of memory"); process.exit(2);', "infrastructure", "tool-crashed"),
        ("process.abort();", "infrastructure", "tool-crashed"),
        ("if (bomb) process.abort();", "failed", "tool-overwhelmed"),
        ('if (bomb && process.argv.includes("--skipLibCheck")) process.abort();', "failed", "tool-overwhelmed"),
        ('if (bomb) { console.log("panic: stack overflow"); process.exit(2); }', "failed", "tool-overwhelmed"),
    ],
)
async def test_a_compiler_that_dies_is_the_models_failure_only_if_it_works_on_other_files(
    tools: Tools, tmp_path: Path, script: str, status: str, failure: str | None
) -> None:
    real = tools.toolchain.binary("tsc").relative_to(tools.toolchain.packages.node_modules)
    fake = tmp_path / "fake/node_modules" / real
    _write_script(fake, tools.toolchain.node.executable, script)
    workspace = Workspace(tmp_path / "workspace")
    workspace.prepare()
    toolchain = replace(tools.toolchain, packages=InstalledPackages(tmp_path / "fake"))
    step = RunningStep("tsc", workspace, replace(tools, toolchain=toolchain))
    (workspace.project / "convex").mkdir()
    (workspace.project / "convex/bomb.ts").write_text("")
    checked = CheckedCopy(workspace.project, (Area("convex", "convex", "{}"),), (), declarations=("convex/a.d.ts",))
    result = await check_types(step, checked, "7")
    assert (result.status, result.failure) == (status, failure)


def _write_script(path: Path, node: Path, script: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(f'#!{node}\nconst bomb = require("fs").existsSync("convex/bomb.ts");\n{script}\n')
    path.chmod(0o755)
