"""ESLint kept warm finds what a cold one finds, and nothing passes from one answer to the next."""

import json
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.examples import exhaustively
from tests.pipeline.warm.answers import written

from convex_evals.core.diagnostics import Diagnostic
from convex_evals.pipeline.lint.step import LintAccident, in_order, run_eslint
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck.checked import Area
from convex_evals.pipeline.warm import EslintHost
from convex_evals.pipeline.warm import eslint as warm_eslint
from convex_evals.pipeline.workspace import Workspace

PROJECTS = Path(__file__).parents[1] / "projects"
LINTED = sorted(
    path.parent.name
    for path in PROJECTS.glob("*/expected.json")
    if json.loads(path.read_text()).get("failedStep") not in {"filesystem", "install", "deploy"}
    and path.parent.name != "published-component"  # the cold one sees our packages only
)
CONVEX = Area("convex", "convex", "")
TSCONFIG = '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}'
PLAIN = 'export default [{ files: ["**/*.js"], rules: { "no-debugger": 2 } }];\n'  # without types it starts at once
DEBUGGED = {"convex/a.js": "debugger;\n"}
TYPED = """\
import tseslint from "typescript-eslint";
export default tseslint.config({
  files: ["**/*.ts"],
  extends: [...tseslint.configs.recommendedTypeChecked],
  languageOptions: { parserOptions: { %s, tsconfigRootDir: process.cwd() } },
});
"""
ASSIGNED = "export const list: string[] = [];\nexport const first: string = list.first();\n"
AUGMENTED = f"{ASSIGNED}declare global {{\n  interface Array<T> {{\n    first(): T;\n  }}\n}}\n"


SIDE_BY_SIDE = re.compile(r"\ball/[^/]+/")
Finding = tuple[str, int, int, str, str]


def findings(found: list[Diagnostic], below: str = "") -> list[Finding]:
    """Some messages name the place of a tsconfig.json, which is not the same when projects lie side by side."""
    return [
        (
            below + (each.file or ""),
            each.line or 0,
            each.column or 0,
            each.name or "",
            SIDE_BY_SIDE.sub("", each.message),
        )
        for each in found
    ]


class Answers:
    """Folders with files of answers, linted one after the other by the same host."""

    def __init__(self, tools: Tools, root: Path) -> None:
        self.tools, self.root = tools, root
        self.steps: list[RunningStep] = []

    async def lint(self, files: dict[str, str], config: Path | None = None) -> list[str]:
        given = {"convex/tsconfig.json": TSCONFIG, **files}
        workspace = written(self.tools, self.root / str(len(self.steps)), given, "checked")
        self.steps.append(RunningStep("eslint", workspace, self.tools))
        found = await run_eslint(self.steps[-1], workspace.checked, CONVEX, config)
        return [f"{each.file}:{each.line}:{each.column} {each.name} {each.message}" for each in in_order(found)]

    @property
    def was_warm(self) -> list[bool]:
        return ["(warm process)" in step.log.read_text() for step in self.steps]


@pytest.fixture
def answers(grading_tools: Tools, tmp_path: Path) -> Answers:
    return Answers(grading_tools, tmp_path / "warm")


@pytest.fixture
def cold(tools: Tools, tmp_path: Path) -> Answers:
    """`tools` is closed, so that nothing is kept warm."""
    return Answers(tools, tmp_path / "cold")


def write_config(folder: Path, tools: Tools, text: str) -> Path:
    """As a suite brings it, with its packages beside."""
    folder.mkdir()
    (folder / "node_modules").symlink_to(tools.toolchain.packages.node_modules, target_is_directory=True)
    (folder / "eslint.config.mjs").write_text(text)
    return folder / "eslint.config.mjs"


@pytest.mark.exhaustive
@pytest.mark.parametrize("names", [set(LINTED)], ids=["all"])
async def test_the_parity_corpus_has_the_same_findings_warm_and_cold(
    graded: Callable[[str], Awaitable[Any]], grading_tools: Tools, tools: Tools, tmp_path: Path, names: set[str]
) -> None:
    """The cold one sees all projects side by side, because it takes seconds to begin."""
    warm: list[Finding] = []
    for name in names:
        workspace = (await graded(name)).workspace
        shutil.copytree(workspace.checked, tmp_path / "all" / name, ignore=shutil.ignore_patterns("node_modules"))
        step = RunningStep("eslint", workspace, grading_tools, log="warm")
        warm += findings(await run_eslint(step, workspace.checked, CONVEX, None), below=f"all/{name}/")
        assert "(warm process)" in step.log.read_text()
    (tmp_path / "node_modules").symlink_to(tools.toolchain.packages.node_modules)
    workspace = Workspace(tmp_path)
    workspace.prepare()
    step = RunningStep("eslint", workspace, tools)
    for name in names:
        shutil.rmtree(tmp_path / "all" / name / "src", ignore_errors=True)
    original = await run_eslint(step, tmp_path, Area("convex", "all", ""), None)
    assert "(warm process)" not in step.log.read_text()
    assert len(original) > 20
    assert sorted(warm) == sorted(each for each in findings(original) if "/components/" not in each[0])


# With a default project allowed, typescript-eslint leaves single files to TypeScript's project service.
SERVICE = 'projectService: { allowDefaultProject: ["none.ts"] }'


@pytest.mark.parametrize("options", exhaustively('project: "./convex/tsconfig.json"', SERVICE, "projectService: true"))
async def test_a_suites_own_configuration_finds_the_same_warm_and_cold(
    answers: Answers, cold: Answers, tmp_path: Path, options: str
) -> None:
    config = write_config(tmp_path / "suite", answers.tools, TYPED % options)
    loose = {"convex/a.ts": "export async function wait() {}\nexport function go() {\n  wait();\n}\n"}
    right = {"convex/a.ts": "export const one = 1;\n"}
    found = [await answers.lint(files, config) for files in (loose, right, loose)]
    assert all(answers.was_warm)
    assert found[0] == found[2] == await cold.lint(loose, config)
    assert [len(each) for each in found] == [1, 0, 1]
    assert not any(cold.was_warm)


@pytest.mark.parametrize("options", ["projectService: true", *exhaustively(SERVICE)])
async def test_nothing_that_one_answer_declares_or_contains_reaches_the_next(
    answers: Answers, cold: Answers, tmp_path: Path, options: str
) -> None:
    config = write_config(tmp_path / "suite", answers.tools, TYPED % options)
    importing = 'import { list } from "../../0/convex/a";\nexport const copy: string[] = list;\n'
    assert await answers.lint({"convex/a.ts": AUGMENTED}, config) == []
    found = await answers.lint({"convex/a.ts": ASSIGNED, "convex/b.ts": importing}, config)
    assert all(answers.was_warm)
    assert found == await cold.lint({"convex/a.ts": ASSIGNED, "convex/b.ts": importing}, config)
    assert {line.partition(":")[0] for line in found} == {"convex/a.ts", "convex/b.ts"}


async def test_a_configuration_that_changes_what_all_code_shares_is_left_to_a_cold_eslint(
    answers: Answers, cold: Answers, tmp_path: Path
) -> None:
    """Nothing an answer contains can do this, as far as anybody knows. If something could, it would be noticed."""
    rule = "{ create: () => ({ Program(node) { Object.prototype.polluted = node.body.length; } }) }"
    plugins = f"plugins: {{ own: {{ rules: {{ polluting: {rule} }} }} }}"
    text = f'export default [{{ files: ["**/*.js"], {plugins}, rules: {{ "own/polluting": 2, "no-debugger": 2 }} }}];\n'
    config = write_config(tmp_path / "suite", answers.tools, text)
    assert await answers.lint(DEBUGGED, config) == await cold.lint(DEBUGGED, config) != []
    assert answers.was_warm == [False]
    assert "something was left behind" in answers.steps[0].log.read_text()


async def test_a_configuration_that_cannot_be_loaded_is_explained_by_a_cold_eslint(
    answers: Answers, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "suite", answers.tools, 'import "no-such-package";')
    with pytest.raises(LintAccident) as caught:
        await answers.lint({"convex/a.ts": ""}, config)
    assert "no-such-package" in caught.value.result.output.text


async def test_a_process_is_replaced_when_it_has_grown(
    answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_eslint, "MOST_MEMORY", 1)
    config = write_config(tmp_path / "suite", answers.tools, PLAIN)
    first = await answers.lint(DEBUGGED, config)
    assert not answers.tools.eslint._processes
    assert await answers.lint(DEBUGGED, config) == first
    assert answers.was_warm == [True, True]


async def test_a_process_that_does_not_answer_is_stopped_and_its_job_done_by_a_cold_eslint(
    answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_eslint, "JOB_SECONDS", 0.01)
    config = write_config(tmp_path / "suite", answers.tools, PLAIN)
    assert len(await answers.lint(DEBUGGED, config)) == 1
    assert answers.was_warm == [False]
    assert not answers.tools.eslint._processes


async def test_processes_end_with_their_host() -> None:
    async with EslintHost.open() as host:
        folder = host.folder
        assert folder.is_dir()
    assert not folder.exists()
    assert not host.is_open
