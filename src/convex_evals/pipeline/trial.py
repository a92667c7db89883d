"""Whether a tool works on this machine: tried on files of ours, out of reach of what a model wrote.

A tool that breaks on a model's files and works on ours was broken by those files.
"""

import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import LIMITS, TOOL_SECONDS, Tools
from convex_evals.pipeline.workspace import Workspace

Trial = Callable[[RunningStep], Awaitable[bool]]

_QUOTED: Final = 1000
_MODULE: Final = "export const one: number = 1;\n"
_working: set[tuple[Path, str]] = set()  # tools by installation and name: what worked once works


@contextmanager
def step_apart(tools: Tools) -> Iterator[RunningStep]:
    """A step with trusted input, in a workspace that no other step's program may reach; it is gone afterwards."""
    tools.cache.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix=".apart-", dir=tools.cache))
    try:
        workspace = Workspace(folder)
        workspace.prepare()
        yield RunningStep("deploy", workspace, tools)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def blame(step: RunningStep, kind: str, result: ProcessResult, tool: str, trial: Trial) -> str:
    """The kind of failure for a tool that broke: `kind` unless the files it was given are the reason."""
    if kind == "disk-full" or not _broke_by_itself(result):
        return kind
    if not await works(step.tools, tool, trial):
        step.say(f"{tool} does not work on our own files either")
        return kind
    return "tool-overwhelmed"


def ending_of(kind: str, tool: str, result: ProcessResult) -> str:
    """One sentence about a tool that did not do its work, and the beginning of what it said."""
    because = ", and it works on other files" if kind == "tool-overwhelmed" else ""
    return f"{tool} was {result.ending} on these files{because}.\n{result.output.text[:_QUOTED]}".strip()


async def works(tools: Tools, tool: str, trial: Trial) -> bool:
    """Whether `trial` succeeds with a project of one line; it is asked until it does."""
    key = (tools.toolchain.packages.folder, tool)
    if key not in _working:
        with step_apart(tools) as step:
            write_trivial_project(step.workspace.project, tools)
            if await trial(step):
                _working.add(key)
    return key in _working


def write_trivial_project(project: Path, tools: Tools) -> None:
    (project / "convex").mkdir()
    (project / "convex/index.ts").write_text(_MODULE)
    (project / "node_modules").symlink_to(tools.toolchain.packages.node_modules, target_is_directory=True)


def _broke_by_itself(result: ProcessResult) -> bool:
    """Nobody else stopped it: not a machine without memory, and not one too busy to let it run."""
    worked = result.usage.cpu
    if result.timed_out:
        return worked > TOOL_SECONDS / 2
    return result.signal != signal.SIGKILL or worked >= (LIMITS.cpu_seconds or 0)
