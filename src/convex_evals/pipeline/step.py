"""A step while it runs: collects commands, log and notes, and becomes a StepResult."""

import itertools
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, TestResult, stated
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import Output, ProcessResult, run
from convex_evals.core.steps import Command, StepResult
from convex_evals.core.verdicts import Status, StepName
from convex_evals.pipeline.bounds import readable
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.tools import LIMITS, TOOL_SECONDS, Tools, tool_confinement, tool_environment
from convex_evals.pipeline.workspace import Workspace

_LEAST_FREE: Final = 4 * MEBIBYTE
_MOST_OUTPUT: Final = 16 * MEBIBYTE
_QUOTED: Final = 1000
_MODULE: Final = "export const one: number = 1;\n"
_working: set[tuple[Path, str]] = set()  # tools by installation and name: what worked once works


class RunningStep:
    """The log is a file from the start, so that it is there whatever happens."""

    def __init__(self, name: StepName, workspace: Workspace, tools: Tools, log: str | None = None) -> None:
        self.name, self.workspace, self.tools = name, workspace, tools
        self.log = workspace.logs / f"{log or name}.log"
        self.log.write_text("")
        self.notes: list[str] = []
        self._commands: list[Command] = []
        self._numbers = itertools.count()
        self._started = time.perf_counter()

    def say(self, text: str) -> None:
        """Adds to the log."""
        with self.log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(text if text.endswith("\n") else f"{text}\n")

    def note(self, text: str) -> None:
        """Something that was normalised or assumed: told with the result, and logged."""
        text = readable(text)
        if text not in self.notes:
            self.notes.append(text)
            self.say(f"note: {text}")

    async def run(
        self,
        arguments: Sequence[str | Path],
        *,
        cwd: Path,
        read: Sequence[Path],
        write: Sequence[Path] = (),
        url: str | None = None,
        timeout: float = TOOL_SECONDS,
        environment: Mapping[str, str] | None = None,
    ) -> ProcessResult:
        """Runs a tool in its confinement; command, complete output and ending go to the log. It reaches what it is
        given and nothing else: folders to read, folders to write, and the deployment at `url`."""
        command = [str(argument) for argument in arguments]
        output = self.workspace.logs / f".{self.log.stem}-{next(self._numbers)}.output"
        result = await run(
            command,
            cwd=cwd,
            timeout=timeout,
            environment={**tool_environment(self.workspace.home), **(environment or {})},
            limits=LIMITS,
            confinement=tool_confinement(self.workspace, self.tools, read, write, url),
            log=output,
        )
        self.record(result, command)
        return result

    def record(self, result: ProcessResult, command: Sequence[str] | None = None) -> None:
        """Adds a program that has ended to the log and the commands."""
        arguments = tuple(command or result.arguments)
        usage = result.usage
        self._commands.append(
            Command(arguments, result.ending, usage.wall * 1000, (usage.cpu_user + usage.cpu_system) * 1000)
        )
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(arguments)}\n".encode(errors="replace"))
            for output in (result.output, result.errors):
                if output is not None and output.path.exists():
                    with output.path.open("rb") as file:
                        shutil.copyfileobj(file, log)
            log.write(f"\n({result.ending})\n".encode())

    def record_request(self, command: Sequence[str], wall_ms: float, cpu_ms: float, reply: str) -> None:
        """Adds what a warm program did for this step to the log and the commands."""
        self._commands.append(Command(tuple(command), "warm process", wall_ms, cpu_ms))
        self.say(f"$ {' '.join(command)}\n{reply}\n\n(warm process)")

    def accident(self, result: ProcessResult) -> str | None:
        """The kind of failure when a tool was stopped from outside or crashed, or had no disk space left."""
        if shutil.disk_usage(self.workspace.root).free < _LEAST_FREE:
            return "disk-full"
        if result.timed_out:
            return "tool-timeout"
        return "tool-crashed" if result.signal is not None else None

    def passed(self, test_results: Sequence[TestResult] = ()) -> StepResult:
        return self._result("passed", "", None, (), test_results)

    def failed(
        self,
        kind: str,
        excerpt: str,
        diagnostics: Sequence[Diagnostic] = (),
        test_results: Sequence[TestResult] = (),
    ) -> StepResult:
        """`kind` decides in the table of failures whether this is a verdict or an accident.

        `diagnostics` are everything that was found; without any, the excerpt is the one complaint.
        """
        excerpt = readable(excerpt)
        self.say(f"{kind}: {excerpt}")
        said = tuple(diagnostics) or tuple(stated(self.name, kind, text) for text in (excerpt.strip(),) if text)
        return self._result(FAILURES[kind].status, excerpt, kind, said, test_results)

    def _result(
        self,
        status: Status,
        excerpt: str,
        kind: str | None,
        diagnostics: tuple[Diagnostic, ...],
        test_results: Sequence[TestResult],
    ) -> StepResult:
        return StepResult(
            name=self.name,
            status=status,
            duration_ms=(time.perf_counter() - self._started) * 1000,
            cpu_ms=sum(command.cpu_ms for command in self._commands),
            commands=tuple(self._commands),
            excerpt=excerpt,
            log=self.log,
            failure=kind,
            notes=tuple(self.notes),
            diagnostics=diagnostics,
            test_results=tuple(test_results),
        )


def output_of(output: Output) -> str:
    """What a program printed, as far as anybody wants to read it: a model may make a tool print without end."""
    if not output.omitted:
        return output.text
    with output.path.open("rb") as file:
        return file.read(_MOST_OUTPUT).decode(errors="replace")


Trial = Callable[[RunningStep], Awaitable[bool]]
"""Whether a tool works on this machine: tried on files of ours, out of reach of what a model wrote."""


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
    """The kind of failure for a tool that broke: `kind` unless the files it was given are the reason.

    A tool that breaks on a model's files and works on ours was broken by those files.
    """
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
    """Whether `trial` succeeds with a project of one line; once it has, it is not repeated."""
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
