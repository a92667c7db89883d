"""Answers in the user's own editor: `controls new` and `open`."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.cli.output import print_lines, remark, visible
from convex_evals.cli.runs.evidence import eval_of
from convex_evals.cli.runs.executor import check_sandbox
from convex_evals.cli.runs.lookup import existing_scores, find_attempt, find_run
from convex_evals.cli.runs.summaries import reason
from convex_evals.controls import Draft, suite_for_writing
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.http import stop_signals
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.pipeline import Assignment, Grade, GradingOptions, OpenProject, open_project
from convex_evals.runner import GradingPool, open_workspace
from convex_evals.suite import Selection, load_suite, read_answer, select

NOT_OK = 1
ENVIRONMENT = ".env.local"
ONLY_FILES = frozenset({"nano", "pico"})


def editor() -> list[str] | None:
    """The command of the user's editor; None where there is none, or no terminal for it."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return shlex.split(named) if named and sys.stdin.isatty() and sys.stdout.isatty() else None


@asynccontextmanager
async def editing(command: Sequence[str], folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """It has the user's terminal and environment, unlike every other program that we start, and works in the folder."""
    try:
        process = await asyncio.create_subprocess_exec(*command, *_opened(command, folder), cwd=folder)
    except OSError as error:
        raise UsageError(f"The editor {command[0]} cannot be started ({error.strerror}); set EDITOR.") from error
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def _opened(command: Sequence[str], folder: Path) -> list[str]:
    """The folder, or its files for an editor that opens nothing else."""
    if Path(command[0]).name not in ONLY_FILES:
        return [str(folder)]
    sources = (path for path in sorted((folder / "convex").rglob("*")) if "_generated" not in path.parts)
    return [str(path) for path in sources if path.is_file()]


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """`eval` is the eval's name, `name` that of the control."""

    eval: str
    name: str
    why: str | None = None
    evals: Path | None = None
    sandbox: Sandbox = "required"


def write_control(asked: DraftOptions) -> int:
    """Begins a control, or makes the patch of one that was begun; returns the exit code."""
    suite = load_suite(suite_for_writing(asked.evals))
    [chosen] = select(suite, Selection(names=[asked.eval]))
    draft = Draft.of(suite, chosen, asked.name, read_answer(chosen, suite.settings.answer_files))
    if not draft.is_begun:
        draft.begin()
        print_lines([f"The reference answer was copied to {_from_here(draft.folder)}."])
        command = editor()
        if command is None:
            print_lines(["Change it there, then run the same command again: it makes the patch."])
            return 0
        asyncio.run(_edit(command, draft.folder))
    return _finish(draft, asked, GradingOptions(sandbox=asked.sandbox).completed(suite.settings))


async def _edit(command: Sequence[str], folder: Path) -> None:
    async with editing(command, folder) as process:
        await process.wait()


def _finish(draft: Draft, asked: DraftOptions, options: GradingOptions) -> int:
    files = draft.files()
    if files == draft.answer:
        print_lines([f"Nothing is changed yet in {_from_here(draft.folder)}."])
        return 0
    why = asked.why or _ask_why(draft)
    grade = asyncio.run(_grade(draft, files, options, read_settings()))
    complaint = _complaint(draft, grade)
    if complaint is not None:
        print_lines([f"{draft.name} {complaint}", f"Its files are still in {_from_here(draft.folder)}."])
        return InfrastructureError.exit_code if grade.status == "infrastructure" else NOT_OK
    control = draft.finish(files, grade, why)
    judged = "passes" if control.step is None else f"fails at {control.step}"
    print_lines([f"{_from_here(draft.patch)}: {judged}{f' in {control.test}' if control.test else ''}"])
    return 0


def _ask_why(draft: Draft) -> str:
    if not sys.stdin.isatty():
        raise UsageError("Every control says why it is there: add --why TEXT, a sentence.")
    from convex_evals.cli.menu import ask_text

    question = "What is wrong with it?" if draft.kind == "wrong" else "What is different about it?"
    return ask_text(question, "", lambda text: None if text.strip() else "One sentence.")


async def _grade(draft: Draft, files: dict[str, str], options: GradingOptions, settings: Settings) -> Grade:
    await check_sandbox(options.sandbox)
    await prepare_toolchain(settings, remark)
    with open_workspace(settings.output_folder) as folder:
        async with GradingPool.open(settings, folder, 1) as pool:
            return await pool.grade(Assignment(draft.eval, files, options, folder / "draft"))


def _complaint(draft: Draft, grade: Grade) -> str | None:
    """Why it is no such control; None when it is one."""
    said = next((step.cause for step in grade.steps if step.status == grade.status), "")
    if grade.status == "infrastructure":
        return f"has no verdict: {visible(grade.broken or said)}"
    if draft.kind == "alternative":
        return None if grade.status == "passed" else f"must pass, but fails at {grade.failed_step}: {visible(said)}"
    if grade.status == "passed":
        return "must fail, but passes every step: the answer is not wrong, or the grader does not see it."
    return None


@dataclass(frozen=True, slots=True)
class OpenOptions:
    run: str
    eval: str
    trial: int = 1
    keep: bool = False
    evals: Path | None = None
    sandbox: Sandbox = "required"
    scores: str | None = None


def open_answer(asked: OpenOptions) -> None:
    """Writes and deploys what a model answered, shows it in the editor, and ends when it is interrupted."""
    with existing_scores(asked.scores) as store:
        record = find_run(store, asked.run)
        details = find_attempt(store, record, asked.eval, asked.trial)
        if details.generation is None:
            raise UsageError(f"{details.attempt.eval} was never answered, so there is no project to open.")
        files = store.read_files(details.generation.files)
        title = f"{details.attempt.eval} · {details.attempt.status} · {record.model}"
        why = [] if details.attempt.status == "passed" else [reason(details)]
        with eval_of(store, record, details, asked.evals) as chosen:
            print_lines([title, *why])
            asyncio.run(_open(Assignment(chosen, files, GradingOptions(sandbox=asked.sandbox), Path()), asked.keep))


async def _open(answer: Assignment, keep: bool) -> None:
    settings = read_settings()
    await check_sandbox(answer.options.sandbox)
    with open_workspace(settings.output_folder, keep=keep) as folder, stop_signals() as stopped:
        assignment = Assignment(answer.eval, answer.files, answer.options, folder)
        async with open_project(assignment, settings, remark) as project:
            _write_environment(project)
            print_lines(_project_lines(project))
            await _edit_until(stopped, project.folder)
    print_lines([f"The project stays in {project.folder}." if keep else "Everything is stopped and removed."])


async def _edit_until(stopped: asyncio.Event, folder: Path) -> None:
    command = editor()
    if command is None:
        await stopped.wait()
        return
    async with editing(command, folder) as process:
        ended = asyncio.create_task(process.wait())
        interrupted = asyncio.create_task(stopped.wait())
        await asyncio.wait((ended, interrupted), return_when=asyncio.FIRST_COMPLETED)
        if not stopped.is_set():
            print_lines(["The editor exited; the deployment runs until Ctrl-C."])
        await interrupted
        ended.cancel()


def _write_environment(project: OpenProject) -> None:
    """So that `npx convex` in the folder means this deployment."""
    if project.deployment is None:
        return
    url, key = project.deployment.url, project.deployment.admin_key
    (project.folder / ENVIRONMENT).write_text(
        f"CONVEX_SELF_HOSTED_URL={url}\nCONVEX_SELF_HOSTED_ADMIN_KEY={key}\n", encoding="utf-8"
    )


def _project_lines(project: OpenProject) -> Sequence[str]:
    lines = [f"project     {project.folder}"]
    if project.deployment is not None:
        lines += [f"deployment  {project.deployment.url}", "            npx convex dev --once  deploys your changes"]
    if project.failed is not None:
        lines += [f"{project.failed.name} fails here: {visible(project.failed.cause)}"]
    return [*lines, "Ctrl-C ends it."]


def _from_here(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
