"""A vitest grader of a suite written elsewhere, and its reports, read as ours."""

import asyncio
import hashlib
import json
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from convex_evals.core.diagnostics import Comparison, TestResult, TestStatus, compared
from convex_evals.core.processes import SYSTEM_PATH, Confinement, Process, ProcessResult, base_environment, run
from convex_evals.pipeline.grading.network import OwnNetworkListeners
from convex_evals.pipeline.grading.runner import GraderRequest, GraderRun
from convex_evals.pipeline.grading.types import GradedDeployment, Report
from convex_evals.pipeline.tools import LIMITS, Tools

FALLBACK: Final = Path(__file__).with_name("fallback.mjs")
FAILURES: Final = Path(__file__).with_name("failures.mjs")
REPORTER: Final = 'import {{ failuresTo }} from "{failures}";\nexport default failuresTo("{path}");\n'
SCRATCH: Final = (".vite-temp", ".vite")
NO_NAME: Final = "(?!)"  # matches no test, so that all are named and none is run
CONFIG: Final = 'import {{ fallbackTo }} from "{fallback}";\nexport default fallbackTo("{manifest}", "{cache}");\n'
NPX: Final = """#!/bin/sh
# Runs the command of a package that is installed; never fetches one.
while [ "${{1#-}}" != "$1" ]; do shift; done
name=$1; shift
for folder in {folders}; do
  [ -x "$folder/$name" ] && exec "$folder/$name" "$@"
done
echo "npx: $name is not installed" >&2
exit 127
"""
_CUT: Final = "…"
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_FRAME: Final = re.compile(r"^\s+at ")
_PLACE: Final = re.compile(r"^\s+at .*?(?P<path>/[^\s()]+):(?P<line>\d+):\d+\)?$", re.MULTILINE)

Compared = dict[str, list[Comparison]]


class VitestGrader:
    """Runs with the suite's own vitest and configuration if its `node_modules` has one, else with ours."""

    def __init__(self, request: GraderRequest, tools: Tools) -> None:
        self._request = request
        self._toolchain = tools.toolchain
        self._own_packages = _packages_above(request.grader.path)
        packages = [*([self._own_packages] if self._own_packages else []), self._toolchain.packages.node_modules]
        programs = write_commands(request.private / "bin", self._toolchain.node.executable, packages)
        self._path = f"{programs}:{SYSTEM_PATH}"
        vitest = (self._own_vitest or self._toolchain.node_script("vitest")).resolve()
        self._compiled = tools.cache / "vitest" / hashlib.sha256(str(vitest).encode()).hexdigest()[:16]

    async def collect(self) -> GraderRun:
        """The reference answer stands in for the model's: names must not depend on what a model wrote. So this run may
        also keep the code that Node compiles, which others only read."""
        request = self._request
        environment = self._environment(request.answer, request.eval.answer)
        self._compiled.mkdir(parents=True, exist_ok=True)
        options = [f"--testNamePattern={NO_NAME}"]
        result = await self._vitest("collected", options, environment, write=(self._compiled,))
        return GraderRun(result, read_names(self._report("collected")))

    async def run(self, expected: tuple[str, ...]) -> GraderRun:
        limit = int(self._request.options.test_seconds * 1000)
        reporter, failures = self._request.private / "reporter.mjs", self._report("failures")
        reporter.write_text(REPORTER.format(failures=FAILURES, path=failures))
        options = [f"--reporter={reporter}", f"--testTimeout={limit}", f"--hookTimeout={limit}"]
        environment = self._environment(self._request.project, self._request.files)
        result = await self._vitest("tests", options, environment)
        report = read_results(self._report("tests"), expected, self._request.grader.path, read_compared(failures))
        return GraderRun(result, await self._unless_lost(report))

    def _report(self, name: str) -> Path:
        return self._request.private / f"{name}.json"

    async def _vitest(
        self, name: str, options: list[str], environment: dict[str, str], write: tuple[Path, ...] = ()
    ) -> ProcessResult:
        file = str(self._request.grader.path.relative_to(self._root))
        reporters = ["--reporter=verbose", "--reporter=json", f"--outputFile.json={self._report(name)}"]
        return await run(
            [*self._program(), "run", file, f"--root={self._root}", "--allowOnly", *reporters, *options],
            cwd=self._root,
            timeout=self._request.options.grader_seconds,
            environment=environment,
            limits=replace(LIMITS, cpu_seconds=int(self._request.options.grader_seconds)),
            confinement=self._confinement(write),
            on_start=self._reached,
            log=self._request.private / f"{name}.log",
        )

    @asynccontextmanager
    async def _reached(self, process: Process) -> AsyncIterator[None]:
        """Functions may connect to what the grader listens on."""
        listening = OwnNetworkListeners.of(process.pid, frozenset(self._request.ports))
        async with listening as listeners:
            with self._request.network.reaching(listeners):
                yield

    def _confinement(self, write: tuple[Path, ...]) -> Confinement:
        """The suite, the model's files and the deployments. What it listens on itself is in a network of its own."""
        request, toolchain = self._request, self._toolchain
        read = [self._root, request.eval.path, request.files, request.eval.answer, FALLBACK, FAILURES]
        read += [toolchain.node.executable.resolve(), toolchain.packages.folder]
        if self._own_packages is not None:
            read.append(self._own_packages.resolve().parent)
        if self._compiled.is_dir():
            read.append(self._compiled)
        return Confinement(
            read=tuple(path.resolve() for path in read),
            write=(request.private.resolve(), *self._scratch(), *(path.resolve() for path in write)),
            network="own",
            ports=request.ports,
        )

    def _scratch(self) -> list[Path]:
        """Where the suite's own vite bundles its configuration and keeps results."""
        if self._own_packages is None:
            return []
        folders = [self._own_packages.resolve() / name for name in SCRATCH]
        with suppress(OSError):  # a suite that cannot be written needs none
            for folder in folders:
                folder.mkdir(exist_ok=True)
        return folders

    @property
    def _root(self) -> Path:
        """Where the suite's packages and shared files are, so that vitest serves all of them."""
        if self._own_packages is not None:
            return self._own_packages.parent
        return self._request.shared or self._request.suite

    @property
    def _own_vitest(self) -> Path | None:
        own = self._own_packages / "vitest/vitest.mjs" if self._own_packages is not None else None
        return own if own is not None and own.is_file() else None

    def _program(self) -> list[str]:
        if self._own_vitest is not None:
            return [str(self._toolchain.node.executable), str(self._own_vitest)]
        config = self._request.private / "vitest.config.mjs"
        manifest = self._toolchain.packages.folder / "package.json"
        config.write_text(CONFIG.format(fallback=FALLBACK, manifest=manifest, cache=self._request.private / "cache"))
        return [*self._toolchain.node_command("vitest"), f"--config={config}"]

    def _environment(self, project: GradedDeployment | None, files: Path) -> dict[str, str]:
        variables = {"CI": "1", "NO_COLOR": "1", "MODEL_OUTPUT_DIR": str(files)}
        if project is not None:
            variables |= {"CONVEX_PORT": _port(project.url), "CONVEX_SITE_PORT": _port(project.site_url)}
        if self._request.answer is not None:
            variables["CONVEX_ANSWER_PORT"] = _port(self._request.answer.url)
        variables |= {"TMPDIR": str(self._request.private), "NODE_COMPILE_CACHE": str(self._compiled)}
        return base_environment(self._request.own_home, variables, path=self._path)

    async def _unless_lost(self, report: Report | None) -> Report | None:
        """Failures say nothing about an answer when a deployment has gone."""
        if report is None or not report.count("failed"):
            return report
        graded = (self._request.project, self._request.answer)
        lost = [each.url for each in graded if each is not None and not await _answers(each.url)]
        if not lost:
            return report
        message = f"the deployment at {', '.join(lost)} does not answer"
        tests = (
            replace(test, status="lost", message=message) if test.status == "failed" else test for test in report.tests
        )
        return replace(report, tests=tuple(tests))


def _packages_above(path: Path) -> Path | None:
    """The nearest `node_modules`, as Node's own resolution finds it."""
    return next((folder / "node_modules" for folder in path.parents if (folder / "node_modules").is_dir()), None)


def _port(url: str) -> str:
    return str(urlsplit(url).port)


async def _answers(url: str) -> bool:
    parts = urlsplit(url)
    with suppress(OSError):
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.close()
        return True
    return False


def write_commands(folder: Path, node: Path, package_folders: Sequence[Path]) -> str:
    """Fills `folder` and returns the PATH that begins with it."""
    folder.mkdir()
    (folder / "node").symlink_to(node)
    programs = [packages / ".bin" for packages in package_folders]
    script = NPX.format(folders=" ".join(shlex.quote(str(path)) for path in programs))
    for name in ("npx", "bunx"):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return ":".join(map(str, [folder, *programs]))


def read_names(path: Path) -> Report | None:
    """The tests of a run that ran none of them."""
    results = _read(path)
    if results is None:
        return None
    return Report(tuple(test.name for test in _tests(results, path)), (), _problem(results))


def read_compared(path: Path) -> Compared:
    """What `failures.mjs` wrote, by the name of the test; several tests may have the same."""
    found: Compared = {}
    for entry in _read(path) or ():
        found.setdefault(_name(entry["name"]), []).append(Comparison(entry["expected"], entry["received"]))
    return found


def read_results(path: Path, expected: tuple[str, ...], grader: Path, failures: Compared) -> Report | None:
    """What the JSON reporter wrote of the tests in `grader`. When the file fails as a whole, so do the expected tests
    that it did not reach."""
    results = _read(path)
    if results is None:
        return None
    tests, problem = [_with_values(test, failures) for test in _tests(results, grader)], _problem(results)
    if problem:
        tests += [TestResult(name, "failed", problem) for name in _missing(expected, tests)]
    return Report(tuple(test.name for test in tests), tuple(tests))


def _tests(results: Any, grader: Path) -> list[TestResult]:
    return [test for file in results["testResults"] for test in _tests_of(file, grader)]


def _tests_of(file: dict[str, Any], grader: Path) -> list[TestResult]:
    """When a file failed and none of its tests did, their preparation failed: those that did not run failed with it."""
    tests = [_test(entry, grader) for entry in file["assertionResults"]]
    if file["status"] != "failed" or any(test.status == "failed" for test in tests):
        return tests
    message = _clean(file.get("message") or "") or "what prepares the tests failed, see the log"
    return [replace(test, status="failed", message=message) if test.status == "skipped" else test for test in tests]


def _problem(results: Any) -> str:
    """Why a file failed as a whole."""
    return "\n".join(filter(None, (_clean(file.get("message") or "") for file in results["testResults"])))


def _missing(expected: tuple[str, ...], tests: list[TestResult]) -> Iterator[str]:
    reported = [test.name for test in tests]
    for name in expected:
        if name in reported:
            reported.remove(name)
        else:
            yield name


def _test(entry: dict[str, Any], grader: Path) -> TestResult:
    said = "\n".join(entry.get("failureMessages") or [])
    message, line = _clean(said), _line_in(grader, said)
    comparison = compared(message)
    return TestResult(
        name=_name([*entry["ancestorTitles"], entry["title"]]),
        status=_status(entry["status"]),
        message=message,
        file=grader.name if line else None,
        line=line,
        expected=comparison.expected,
        received=comparison.received,
        assertion=_source(grader, line) if line else None,
        duration_ms=float(entry.get("duration") or 0),
    )


def _with_values(test: TestResult, failures: Compared) -> TestResult:
    """A message abbreviates long values; then those that were compared count."""
    complete = failures[test.name].pop(0) if test.status == "failed" and failures.get(test.name) else Comparison()
    if complete.expected is None or (test.expected and _CUT not in f"{test.expected}{test.received}"):
        return test
    return replace(test, expected=complete.expected, received=complete.received)


def _name(titles: list[str]) -> str:
    return " > ".join(titles)


def _line_in(grader: Path, stack: str) -> int | None:
    """Of the innermost frame in the grader's own file."""
    frames = (match for match in _PLACE.finditer(stack) if Path(match["path"]).name == grader.name)
    frame = next(frames, None)
    return int(frame["line"]) if frame else None


def _source(grader: Path, line: int) -> str | None:
    lines = grader.read_text(errors="replace").splitlines()
    return lines[line - 1].strip() if line <= len(lines) else None


def _status(status: str) -> TestStatus:
    return "passed" if status == "passed" else "failed" if status == "failed" else "skipped"


def _clean(text: str) -> str:
    """Without colours and stack frames."""
    return "\n".join(line for line in _COLOURS.sub("", text).splitlines() if not _FRAME.match(line))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
