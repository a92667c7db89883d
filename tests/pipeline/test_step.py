"""A step while it runs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest
from tests.processes import command

from convex_evals.core.supervisor import landlock_abi
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.workspace import Workspace

SHELL = (Path("/bin"), Path("/usr/bin"))


@pytest.fixture
def step(tools: Tools, tmp_path: Path) -> RunningStep:
    workspace = Workspace(tmp_path)
    workspace.prepare()
    return RunningStep("tsc", workspace, tools)


async def test_the_log_holds_every_byte_that_a_tool_printed(step: RunningStep, tmp_path: Path) -> None:
    await step.run(["sh", "-c", "yes line | head -c 300000; echo error >&2; exit 3"], cwd=tmp_path, read=SHELL)
    result = step.failed("type-errors", "excerpt")
    text = result.log.read_text()
    assert text.count("line\n") == 60_000
    assert "error\n" in text
    assert "(exit code 3)" in text
    assert result.commands[0].ending == "exit code 3"


async def test_a_tool_sees_none_of_our_environment_and_no_network(step: RunningStep, tmp_path: Path) -> None:
    result = await step.run(["sh", "-c", "env; cat /proc/net/dev"], cwd=tmp_path, read=(*SHELL, Path("/proc")))
    names = {line.partition("=")[0] for line in result.output.text.splitlines() if "=" in line}
    shell = {"PWD", "_", "SHLVL", "OLDPWD"}
    assert names <= {"PATH", "HOME", "LANG", "TZ", "CI", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "TMPDIR", *shell}
    assert f"HOME={tmp_path}/home" in result.output.text
    assert [line.split(":")[0].strip() for line in result.output.text.splitlines() if ":" in line][-1] == "lo"


@pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")
async def test_a_tool_reads_and_writes_only_what_belongs_to_the_grading(
    step: RunningStep, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere, project = tmp_path_factory.mktemp("elsewhere"), step.workspace.project
    (elsewhere / "secret").write_text("secret")
    script = f"echo made > made; cat {elsewhere}/secret; echo x > {elsewhere}/secret; ls /root"
    result = await step.run(["sh", "-c", script], cwd=project, read=SHELL, write=(project,))
    assert result.output.text.count("ermission denied") == 3
    assert (project / "made").read_text() == "made\n"
    assert (elsewhere / "secret").read_text() == "secret"


@pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")
async def test_a_tool_reaches_neither_the_rest_of_the_workspace_nor_the_cache(step: RunningStep) -> None:
    workspace, cache = step.workspace, step.tools.settings.cache_folder
    (workspace.configuration / "rules.json").write_text("{}")
    places = [workspace.root, workspace.logs, cache, step.tools.cache, step.tools.packages.root]
    for folder in places:
        folder.mkdir(parents=True, exist_ok=True)
        script = f"ls {folder} || echo refused; echo x > {folder}/made || echo refused"
        result = await step.run(["sh", "-c", script], cwd=workspace.project, read=SHELL, write=(workspace.project,))
        assert result.output.text.count("refused") == 2, (folder, result.output.text)
        assert not (folder / "made").exists()


async def test_what_reports_quote_is_cut_and_has_no_control_characters(step: RunningStep) -> None:
    result = step.failed("type-errors", f"first\n{'x' * 429_000}\x1b[2J\x9b31m\n\u202elast \x1b[1mbold\x1b[0m\x00")
    lines = result.excerpt.splitlines()
    assert lines[0] == "first"
    assert lines[1] == "x" * 600 + "… (429008 characters)"
    step.note("\x9b31m")
    assert step.passed().notes == ("\\x9b31m",)
    assert step.failed("type-errors", "\u202elast \x1b[1mbold\x1b[0m\x00").excerpt == "\\u202elast bold\\x00"
    assert len(step.failed("type-errors", f"{'line' * 100}\n" * 100_000).excerpt) < 13_000


async def test_a_tool_that_does_not_end_is_stopped_and_that_is_an_accident(step: RunningStep, tmp_path: Path) -> None:
    result = await step.run(["sleep", "60"], cwd=tmp_path, read=SHELL, timeout=0.2)
    assert step.accident(result) == "tool-timeout"
    assert step.failed("tool-timeout", "").status == "infrastructure"


async def test_a_tool_that_is_killed_is_an_accident_and_one_that_fails_is_not(
    step: RunningStep, tmp_path: Path, until: Callable[..., Awaitable[None]]
) -> None:
    running = asyncio.create_task(step.run(["sleep", "4711"], cwd=tmp_path, read=SHELL))
    await until(lambda: _kill("4711"))
    killed = await running
    failed = await step.run(["sh", "-c", "echo ENOSPC timed out; exit 1"], cwd=tmp_path, read=SHELL)
    assert step.accident(killed) == "tool-crashed"
    assert step.accident(failed) is None


async def test_a_tool_cannot_fill_the_disk(step: RunningStep, tmp_path: Path) -> None:
    await step.run(["sh", "-c", "head -c 400000000 /dev/zero > big"], cwd=tmp_path, read=SHELL, write=(tmp_path,))
    assert (tmp_path / "big").stat().st_size <= 256 * 1024 * 1024


def _kill(argument: str) -> bool:
    """From outside: the first process of a PID namespace does not heed signals of its own."""
    found = [each for each in psutil.Process().children(recursive=True) if argument in command(each)]
    for process in found:
        process.kill()
    return bool(found)


def test_a_note_is_reported_once_and_logged(step: RunningStep) -> None:
    step.note("assumed")
    step.note("assumed")
    result = step.passed()
    assert result.notes == ("assumed",)
    assert "note: assumed" in result.log.read_text()
