"""A grader written in Python, and what it has others run for it.

The model's React app is built before it starts. Programs that it may not run itself run while it waits, when it asks
over a socket (`kit/services.py` is the other end): tests that the model wrote, and the compiler.
"""

import asyncio
import json
import re
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from convex_evals.core.browser import find_chromium, why_blind
from convex_evals.core.errors import ProcessError
from convex_evals.core.plain import to_plain
from convex_evals.core.processes import LIBRARIES, Confinement, ProcessResult, base_environment, run
from convex_evals.pipeline.grading.network import TreeListeners
from convex_evals.pipeline.grading.python.process import Job
from convex_evals.pipeline.grading.runner import GraderRequest, GraderRun
from convex_evals.pipeline.grading.types import BUNDLE, BuiltApp, TypeCheckReply, read_report
from convex_evals.pipeline.grading.vitest import run_on_variants
from convex_evals.pipeline.tools import LIMITS, TOOL_SECONDS, Tools, linked_packages, tool_environment
from convex_evals.pipeline.typecheck import CheckedCopy, compiler_command, make_checked_copy, parse_diagnostics
from convex_evals.suite import Eval, GraderKind

ENTRY: Final = "src/main.tsx"
LONGEST_REPORT: Final = 5000
SECONDS: Final = 30.0
_ASSETS: Final = (".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".woff", ".woff2")
_APP: Final = re.compile(r"\bapp\b")
_GIVEN: Final = re.compile(r"[(,]\s*given\s*[:,)]")  # a parameter, by which a test or a fixture asks for it
_OPTIONS: Final = (
    "--bundle",
    "--format=esm",
    "--target=es2022",
    # Instead of the project's own tsconfig.json, which Vite does not ask about JSX either.
    '--tsconfig-raw={"compilerOptions":{"jsx":"react-jsx"}}',
    f"--entry-names={BUNDLE}",
    *(f"--loader:{suffix}=dataurl" for suffix in _ASSETS),
    "--log-level=error",
    "--log-limit=5",
    "--color=false",
)
_LENIENT: Final = ("--noUnusedLocals", "false", "--noUnusedParameters", "false")  # snippets declare to show a type

Answer = Callable[[Any], Awaitable[object]]
"""Answers a request with a value of one of our types."""


class PythonGrader:
    def __init__(self, request: GraderRequest, tools: Tools) -> None:
        self._request = request
        self._tools = tools

    async def collect(self) -> GraderRun:
        return await self._run(self._job("collected", collect_only=True))

    async def run(self, expected: tuple[str, ...]) -> GraderRun:
        site = await build_app(self._request, self._tools)
        job = replace(self._job("tests", collect_only=False), site=site)
        if self._request.given is not None:
            job = replace(job, given=self._request.given.deployment)
            job.given_push.write_text(json.dumps(self._request.given.pushes.given))
            job.project_push.write_text(json.dumps(self._request.given.pushes.project))
        request, tools = self._request, self._tools
        others: list[ProcessResult] = []
        async with (
            serve(
                "written_tests", request, lambda variants: run_on_variants(variants, request, tools, others)
            ) as tests,
            serve("type_checks", request, lambda snippets: check_snippets(snippets, request, tools, others)) as types,
        ):
            run = await self._run(replace(job, written_tests=tests, type_checks=types))
        return replace(run, others=tuple(others))

    async def _run(self, job: Job) -> GraderRun:
        pid = await self._tools.graders.prepare()
        with self._request.network.reaching(TreeListeners(pid)):
            result = await self._tools.graders.run(job)
        return GraderRun(result, read_report(job.report))

    def _job(self, name: str, *, collect_only: bool) -> Job:
        request = self._request
        return Job(
            grader=request.grader.path,
            suite=request.suite,
            imports=request.shared,
            report=request.private / f"{name}.json",
            log=request.private / f"{name}.log",
            home=request.own_home,
            chromium=find_chromium(self._tools.settings),
            blind=why_blind(self._tools.settings),
            files=None if collect_only else request.files,
            project=None if collect_only else request.project,
            answer=None if collect_only else request.answer,
            test_seconds=request.options.test_seconds,
            grader_seconds=request.options.grader_seconds,
            collect_only=collect_only,
            order=request.order,
        )


def deploys_the_given_project(eval: Eval) -> bool:
    """Whether a test of an eval with given files asks for the fixture `given`."""
    grader = eval.grader
    if not eval.has_given or grader is None or grader.kind is not GraderKind.PYTEST:
        return False
    return _GIVEN.search(grader.path.read_text(errors="replace")) is not None


def looks_at_the_app(request: GraderRequest) -> bool:
    """Whether the grader, or code that graders of the suite share, mentions an `app` at all."""
    shared = (request.shared / "grader").rglob("*.py") if request.shared else ()
    return any(_APP.search(path.read_text(errors="replace")) for path in (request.grader.path, *shared))


async def build_app(request: GraderRequest, tools: Tools) -> BuiltApp | None:
    """None when nobody asks for it, or nothing is deployed that it could talk to."""
    if request.project is None or not looks_at_the_app(request):
        return None
    output = request.private / "site"
    output.mkdir()
    esbuild = tools.toolchain.binary("esbuild")
    command = [str(esbuild), ENTRY, *_OPTIONS, *_definitions(request.project.url), f"--outdir={output}"]
    try:
        done = await run(
            command,
            cwd=request.files,
            timeout=SECONDS,
            environment=base_environment(output),
            limits=LIMITS,
            confinement=Confinement(
                read=(request.files.resolve(), *linked_packages(request.files, tools), esbuild.resolve()),
                write=(output,),
                system=LIBRARIES,
                network="own",
                sockets="none",
            ),
        )
    except ProcessError as error:
        return BuiltApp(output, crashed=str(error))
    if done.ok:
        return BuiltApp(output)
    reason = _without_blank_lines(done.output.text) if done.exit_code == 1 else f"esbuild: {done.ending}"
    return BuiltApp(output, broken=f"the app cannot be built from {ENTRY}:\n{reason[:LONGEST_REPORT]}")


def _definitions(url: str) -> list[str]:
    """What Vite, and other bundlers in a similar way, substitute for these expressions."""
    vite = {"VITE_CONVEX_URL": url, "MODE": "production", "PROD": True, "DEV": False, "SSR": False, "BASE_URL": "/"}
    process = {"NODE_ENV": "production", "CONVEX_URL": url}
    return [f"--define:import.meta.env={json.dumps(vite)}", f"--define:process.env={json.dumps(process)}"]


def _without_blank_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())


@asynccontextmanager
async def serve(fixture: str, request: GraderRequest, answer: Answer) -> AsyncIterator[Path | None]:
    """The socket, while the block runs; None if the grader does not mention this fixture. One answer at a time."""
    if re.search(rf"\b{fixture}\b", request.grader.path.read_text(errors="replace")) is None:
        yield None
        return
    turn = asyncio.Lock()

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            asked = json.loads(await reader.read())
            async with turn:
                answered = await answer(asked)
            writer.write(json.dumps(to_plain(answered)).encode())
            await writer.drain()
        writer.close()

    socket = request.private / f"{fixture}.socket"
    async with await asyncio.start_unix_server(reply, socket):
        yield socket


async def check_snippets(
    snippets: Mapping[str, str], request: GraderRequest, tools: Tools, ended: list[ProcessResult]
) -> TypeCheckReply:
    """Compiles code of a grader with what the model wrote, by the rules of the step `tsc`.

    The files have names that nothing could know. What ran is added to `ended`.
    """
    checked = make_checked_copy(request.files, request.private / f"types-{secrets.token_hex(4)}")
    area = checked.areas[0].folder
    names = {f"{area}/snippet_{secrets.token_hex(8)}.ts": name for name in snippets}
    for path, name in names.items():
        (checked.folder / path).write_text(snippets[name])
    try:
        result = await _compile(checked, request, tools)
    except ProcessError as error:
        return TypeCheckReply(crashed=str(error))
    ended.append(result)
    found = parse_diagnostics(result.output.read().decode(errors="replace"))
    if not result.ok and not found:
        return TypeCheckReply(crashed=f"tsc: {result.ending}")
    errors: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.file in names:
            errors[names[each.file]].append(f"line {each.line}: {each.name}: {each.message}")
    return TypeCheckReply({name: tuple(errors[name]) for name in snippets})


async def _compile(checked: CheckedCopy, request: GraderRequest, tools: Tools) -> ProcessResult:
    command = compiler_command(tools.toolchain, request.options.compiler)
    home = checked.folder.with_name(f"{checked.folder.name}.home")
    home.mkdir()
    read = (checked.folder, tools.toolchain.packages.folder, *linked_packages(checked.folder, tools))
    return await run(
        [*command, "--project", f"./{checked.areas[0].folder}", *_LENIENT],
        cwd=checked.folder,
        timeout=TOOL_SECONDS,
        environment=tool_environment(home),
        limits=LIMITS,
        confinement=Confinement(
            read=tuple(path.resolve() for path in (*read, tools.toolchain.node.executable)),
            system=LIBRARIES,
            network="own",
            sockets="none",
            scratch=home.resolve(),
        ),
    )
