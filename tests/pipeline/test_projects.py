"""Every project of `projects/`: its verdict, and that fast tools and original ones agree about it."""

import asyncio
import json
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.examples import examples, exhaustively

from convex_evals.backend.deployment import Deployment
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.pipeline.deploy.backends import open_backend
from convex_evals.pipeline.deploy.cli import find_cli, initialize, push, write_push_request
from convex_evals.pipeline.deploy.codegen import add_missing_tsconfig
from convex_evals.pipeline.deploy.direct import Refused, build_request, push_request
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.lint.step import run_eslint, run_oxlint
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck.checked import Area, CheckedCopy
from convex_evals.pipeline.typecheck.step import check_types
from convex_evals.pipeline.types import Compiler, GradingOptions
from convex_evals.pipeline.workspace import Workspace

PROJECTS = Path(__file__).parent / "projects"
EXPECTED = {path.parent.name: json.loads(path.read_text()) for path in sorted(PROJECTS.glob("*/expected.json"))}
DEPLOYED = [name for name, expected in EXPECTED.items() if expected.get("failedStep") != "deploy"]
REFUSED = [name for name in EXPECTED if name not in DEPLOYED]
# The CLI has to look at these itself: a component in a component (whose types it gets wrong, see docs/components.md),
# another folder, an old library.
LEFT_TO_THE_CLI = {"nested-component", "elsewhere", "old-convex"}
# The original tools take their time: of each shape one, and most of them exhaustively.
SENT = ["plain", "schemaless", "many-modules", "node-action", "modest-tsconfig", "newest-convex"]
SENT += ["published-component", "component", "rich-component"]
SENT_ALWAYS = {"rich-component"}
COMPILED = [name for name in DEPLOYED if EXPECTED[name].get("failedStep") == "tsc"]
COMPILED += ["many-modules", "react", "modest-tsconfig"]
COMPILED_ALWAYS = {"everything-wrong"}
LINTED = [name for name in DEPLOYED if EXPECTED[name].get("failedStep") == "eslint"]
LINTED += ["many-findings", "many-modules", "react", "taste"]
LINTED_ALWAYS = ["many-findings"]
ELSEWHERE_IN_THE_CODE = {"no-duplicate-case"}  # one linter points at the first of two cases, one at the second
# Of each kind of verdict and of project one; the others exhaustively.
GRADED_ALWAYS = {"plain", "react", "elsewhere", "node-action", "cheating-tsconfig"}
GRADED_ALWAYS |= {"everything-wrong", "many-findings", "rich-component", "bad-index-component"}
GRADED_ALWAYS |= {"syntax-error", "no-dependency", "bad-index", "shouted-errors"}
HAS_SOURCES = {name for name in EXPECTED if (PROJECTS / name / "src").is_dir()}


@pytest.mark.parametrize("name", examples(EXPECTED, GRADED_ALWAYS))
async def test_a_project_gets_the_verdict_the_fault_and_the_excerpt_it_deserves(
    graded: Callable[[str], Awaitable[Any]], name: str
) -> None:
    result = await graded(name)
    grade, expected = result.grade, result.expected
    shown = [(step.name, step.status, step.excerpt) for step in grade.steps]
    assert grade.status == expected["status"], shown
    assert grade.failed_step == expected.get("failedStep"), shown
    failed = next((step for step in grade.steps if step.name == grade.failed_step), None)
    assert (failed and failed.failure) == expected.get("failure")
    assert failed is None or FAILURES[failed.failure].fault == "model"
    for text in expected.get("excerpt", ()):
        assert text in failed.excerpt
    notes = [note for step in grade.steps for note in step.notes]
    for text in expected.get("notes", ()):
        assert any(text in note for note in notes), notes


@pytest.mark.parametrize("name", examples(DEPLOYED, GRADED_ALWAYS))
async def test_every_step_after_the_gates_runs_whatever_the_others_say(
    graded: Callable[[str], Awaitable[Any]], name: str
) -> None:
    assert {step.status for step in (await graded(name)).grade.steps} <= {"passed", "failed"}


@pytest.mark.parametrize("name", examples(REFUSED, GRADED_ALWAYS))
async def test_nothing_after_a_failed_gate_runs(graded: Callable[[str], Awaitable[Any]], name: str) -> None:
    statuses = [step.status for step in (await graded(name)).grade.steps]
    assert statuses == ["passed", "passed", "failed", "skipped", "skipped", "skipped"]


# ---------------------------------------------------------------- the fast path and the CLI


@pytest.mark.parametrize("name", examples(SENT, SENT_ALWAYS))
async def test_the_fast_path_sends_and_generates_what_the_cli_does(
    graded: Callable[[str], Awaitable[Any]], tools: Tools, tmp_path: Path, name: str
) -> None:
    workspace = (await graded(name)).workspace
    step = RunningStep("deploy", workspace, tools, log="parity")
    cli = await find_cli(workspace.project, tools)
    _remove_generated(workspace.project)
    ours = await build_request(step, cli, workspace.project)
    assert ours is not None, step.log.read_text()
    async with open_backend(GradingOptions(), tools, tmp_path) as backend:
        await write_push_request(step, cli, workspace.project, backend.target, workspace.home / "request")
        theirs = json.loads((workspace.home / "request.json").read_text())
        assert _comparable(ours.body) == _comparable(theirs)
        _remove_generated(workspace.project)
        await _push_with_cli(step, workspace.project, backend)
        generated = _generated_texts(workspace.project)
        application = _analysis(backend.embedded)
    _remove_generated(workspace.project)
    ours = await build_request(step, cli, workspace.project)
    assert ours is not None
    async with open_backend(GradingOptions(), tools, tmp_path) as backend:
        assert backend.embedded is not None
        await push_request(backend.embedded, ours.body, ours.complete_code)
        assert _analysis(backend.embedded) == application
        assert _generated_texts(workspace.project) == generated


@pytest.mark.exhaustive
async def test_graders_see_the_folder_that_the_cli_leaves(
    graded: Callable[[str], Awaitable[Any]], tools: Tools, tmp_path: Path
) -> None:
    workspace = (await graded("no-tsconfig")).workspace
    step = RunningStep("tests", workspace, tools, log="parity")
    await add_missing_tsconfig(step, workspace.project)
    ours = _texts(workspace.project)
    assert "convex/tsconfig.json" in ours
    _remove_generated(workspace.project)
    (workspace.project / "convex/tsconfig.json").unlink()
    cli = await find_cli(workspace.project, tools)
    async with open_backend(GradingOptions(), tools, tmp_path) as backend:
        assert (await push(step, cli, workspace.project, backend.target)).ok
        assert (await initialize(step, cli, workspace.project, backend.target)).ok
    assert _texts(workspace.project) == ours


@pytest.mark.parametrize("name", examples(sorted(LEFT_TO_THE_CLI), GRADED_ALWAYS))
async def test_a_project_that_is_not_plain_is_left_to_the_cli(
    graded: Callable[[str], Awaitable[Any]], tools: Tools, name: str
) -> None:
    workspace = (await graded(name)).workspace
    step = RunningStep("deploy", workspace, tools, log="parity")
    assert await build_request(step, await find_cli(workspace.project, tools), workspace.project) is None


@pytest.mark.parametrize("name", examples(REFUSED, GRADED_ALWAYS))
async def test_the_fast_path_accepts_nothing_that_the_cli_refuses(
    graded: Callable[[str], Awaitable[Any]], tools: Tools, tmp_path: Path, name: str
) -> None:
    workspace = (await graded(name)).workspace
    step = RunningStep("deploy", workspace, tools, log="parity")
    request = await build_request(step, await find_cli(workspace.project, tools), workspace.project)
    if request is not None:
        async with open_backend(GradingOptions(), tools, tmp_path) as backend:
            assert backend.embedded is not None
            with pytest.raises(Refused):
                await push_request(backend.embedded, request.body, request.complete_code)
            assert backend.embedded.application is None


# ---------------------------------------------------------------- the compilers


@pytest.mark.parametrize("name", examples(COMPILED, COMPILED_ALWAYS))
async def test_both_compilers_report_the_same_errors(
    graded: Callable[[str], Awaitable[Any]], tools: Tools, name: str
) -> None:
    workspace = (await graded(name)).workspace
    checked = CheckedCopy(workspace.checked, _areas(name), ())

    async def places(compiler: Compiler) -> set[str]:
        step = RunningStep("tsc", workspace, tools, log=f"parity-{compiler}")
        result = await check_types(step, checked, compiler)
        assert result.status in {"passed", "failed"}, result.excerpt
        return set(re.findall(r"^\S+\(\d+,\d+\): error TS\d+", result.excerpt, re.MULTILINE))

    native, original = await asyncio.gather(places("7"), places("5.9"))
    assert native == original


# ---------------------------------------------------------------- the linters


@pytest.mark.parametrize(
    ("area", "names"),
    [("convex", LINTED_ALWAYS), *exhaustively(("convex", LINTED), ("src", LINTED))],
    ids=["examples", "convex", "src"],
)
async def test_both_linters_report_the_same_findings(
    graded: Callable[[str], Awaitable[Any]], tools: Tools, tmp_path: Path, area: str, names: list[str]
) -> None:
    """All projects side by side in one folder, because ESLint takes seconds to begin."""
    for name in names:
        checked = (await graded(name)).workspace.checked
        if area in {part.name for part in _areas(name)}:
            shutil.copytree(checked, tmp_path / "all" / name, ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "node_modules").symlink_to(tools.toolchain.packages.node_modules)
    workspace = Workspace(tmp_path)
    workspace.prepare()
    step = RunningStep("eslint", workspace, tools)
    everything = Area(area, "all", "")
    _remove(tmp_path / "all", "src" if area == "convex" else "convex/[!_]*")
    fast, original = await asyncio.gather(
        run_oxlint(step, tmp_path, everything), run_eslint(step, tmp_path, everything, None)
    )
    assert len({finding.name for finding in fast}) > (1 if area == "src" else 20)
    assert _places(fast) == _places(original)


def _remove(folder: Path, pattern: str) -> None:
    for path in folder.glob(f"*/{pattern}"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _areas(name: str) -> tuple[Area, ...]:
    functions = "backend" if name == "elsewhere" else "convex"
    areas = [Area("convex", functions, "")]
    return (*areas, Area("src", "src", "")) if name in HAS_SOURCES else tuple(areas)


def _places(findings: list[Diagnostic]) -> set[tuple[str | None, int | None, str | None]]:
    return {
        (finding.file, 0 if finding.name in ELSEWHERE_IN_THE_CODE else finding.line, finding.name)
        for finding in findings
    }


def _texts(project: Path) -> dict[str, str]:
    """Of all files but packages."""
    files = [path for path in project.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    return {path.relative_to(project).as_posix(): path.read_text() for path in files}


def _generated_texts(project: Path) -> dict[str, str]:
    """Of the app and of the components that lie in the project."""
    files = [path for folder in project.rglob("_generated") for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(project).as_posix(): path.read_text() for path in files}


def _remove_generated(project: Path) -> None:
    for folder in [*project.rglob("_generated")]:
        shutil.rmtree(folder)


def _comparable(request: dict[str, Any]) -> dict[str, Any]:
    """Without the key."""
    components = {each["definitionPath"]: _definition(each) for each in request["componentDefinitions"]}
    kept = {name: request[name] for name in ("functions", "nodeDependencies")}
    return {**kept, "app": _definition(request["appDefinition"]), "components": components}


def _definition(sent: dict[str, Any]) -> dict[str, Any]:
    """Without the source map of the definition, which names the folder it was made in."""
    rest = dict(sent)
    definition = {name: value for name, value in rest.pop("definition").items() if name != "sourceMap"}
    modules = rest.pop("functions") if "functions" in rest else rest.pop("changedModules")
    return {**rest, "definition": definition, "modules": {module["path"]: module for module in modules}}


def _analysis(deployment: Deployment | None) -> object:
    assert deployment is not None
    assert deployment.application is not None
    return {
        path: (definition.analysis, definition.schema, definition.metadata)
        for path, definition in deployment.application.definitions.items()
    }


async def _push_with_cli(step: RunningStep, project: Path, backend: Any) -> None:
    result = await push(step, await find_cli(project, step.tools), project, backend.target)
    assert result.ok, result.output.text
    assert await backend.is_pushed()
