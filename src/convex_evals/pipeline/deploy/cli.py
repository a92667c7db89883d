"""The real `convex` command: which one, how it is called, and what its output says about a project."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.convex_versions import is_supported
from convex_evals.core.diagnostics import NOWHERE, Diagnostic, Place, bundler_error, refusal
from convex_evals.core.processes import ProcessResult
from convex_evals.core.toolchain import InstalledPackages, find_convex_cli, installed_version
from convex_evals.pipeline.grading import GradedDeployment
from convex_evals.pipeline.step import RunningStep, output_of
from convex_evals.pipeline.tools import Tools, linked_packages

if TYPE_CHECKING:
    from convex_evals.backend import PushRefusal

_CHATTER: Final = re.compile(r"▌|Saved CONVEX_URL|A (minor|patch|major) update is available|\s*+$")
_BUNDLER: Final = re.compile(
    r"^[✘X] \[ERROR\] (?P<message>.+?)(?: \[plugin [^\]]+\])?\n(?:\s*\n)?"
    r"(?:\s+(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+):)?",
    re.MULTILINE,
)
_REFUSED: Final = re.compile(r"^✖ Error fetching \w+\s+\S+ \d+ [^:\n]+: (?P<code>\w+): (?P<rest>.*)", re.M | re.S)
_PLACE: Final = re.compile(
    r"\(?(?:\.\./|\./)?(?P<file>(?:convex|src)/[\w./-]+?\.[cm]?[jt]sx?):(?P<line>\d+)(?::(?P<column>\d+))?"
)
_HEADING: Final = re.compile(r"(?:Hit an error while .*|Unable to .*|Failed to analyze .*):$")
_FAILED_ANALYSIS: Final = re.compile(r"Failed to analyze (?P<module>\S+?\.js): (?P<rest>.*)", re.S)
_SIGN: Final = re.compile(r"^\s*✖\s*(?:Error:\s*)?")
_SUFFIXES: Final = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs")


@dataclass(frozen=True, slots=True)
class ConvexCli:
    """`packages` is the set of ours that it belongs to: nothing that a project installs is loaded by it.

    `matches_project`: it is of the version that the project installed.
    """

    packages: InstalledPackages
    script: Path
    version: str
    matches_project: bool

    @property
    def package(self) -> Path:
        return self.script.parents[1]


async def find_cli(project: Path, tools: Tools) -> ConvexCli:
    """Of the project's version when that is new enough, else our own. Raises ToolchainError."""
    version = installed_version(project / "node_modules", "convex")
    wanted = version if version is not None and is_supported(version) else None
    found = await find_convex_cli(tools.toolchain, tools.settings, wanted)
    return ConvexCli(found.packages, found.script, found.version, matches_project=wanted is not None)


async def push(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, more: Sequence[Path] = ()
) -> ProcessResult:
    """Generates code and deploys. The type check is a step of its own."""
    options = ["dev", "--once", "--typecheck", "disable", "--tail-logs", "disable"]
    return await _run(step, cli, project, target, options, [project, *more])


async def initialize(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, more: Sequence[Path] = ()
) -> ProcessResult:
    """Generates code, and adds the tsconfig.json that a folder of functions lacks."""
    return await _run(step, cli, project, target, ["codegen", "--init", "--typecheck", "disable"], [project, *more])


async def write_push_request(
    step: RunningStep, cli: ConvexCli, project: Path, target: GradedDeployment, path: Path, more: Sequence[Path] = ()
) -> ProcessResult:
    """Generates code and bundles, but writes to `path`.json what it would have sent."""
    options = ["deploy", "--yes", "--typecheck", "disable", "--push-all-modules", "--write-push-request", str(path)]
    return await _run(step, cli, project, target, options, [project, path.parent, *more])


def excerpt_of(result: ProcessResult) -> str:
    """What the command said, without its progress."""
    lines = [line.rstrip() for line in output_of(result.output).splitlines() if not _is_chatter(line)]
    return "\n".join(lines) or f"The convex command ended with {result.ending} and said nothing."


def compiled_code(tools: Tools) -> Path:
    """Node's compile cache: runs on our own files write it, others only read it."""
    return tools.cache / "compiled"


async def _run(
    step: RunningStep,
    cli: ConvexCli,
    project: Path,
    target: GradedDeployment,
    options: list[str],
    write: Sequence[Path],
) -> ProcessResult:
    """The key is in the environment: commands are logged."""
    compiled = compiled_code(step.tools)
    environment = {
        "CONVEX_SELF_HOSTED_URL": target.url,
        "CONVEX_SELF_HOSTED_ADMIN_KEY": target.admin_key,
        "NODE_COMPILE_CACHE": str(compiled),
    }
    result = await step.run(
        [str(step.tools.toolchain.node.executable), str(cli.script), *options],
        cwd=project,
        read=(cli.packages.folder, compiled, *linked_packages(project, step.tools)),
        write=write,
        url=target.url,
        environment=environment,
    )
    (project / ".env.local").unlink(missing_ok=True)  # names our deployment; no part of the project
    return result


def _is_chatter(line: str) -> bool:
    return (line.startswith("- ") and line.endswith("...")) or _CHATTER.match(line) is not None


def refusal_diagnostic(refused: "PushRefusal", functions: Path) -> Diagnostic:
    """What our own deployment found. `functions` is the folder of the project's functions."""
    at = refused.place
    if at is not None:
        place = Place(at.file, at.line, at.column)
    else:
        place = Place(_source(refused.module, functions)) if refused.module else NOWHERE
    return refusal(refused.code, refused.message.strip(), place)


def read_cli_errors(output: str) -> list[Diagnostic]:
    """From what the CLI printed: all that the bundler complains about, or else the one refusal."""
    bundler = list(_bundler_errors(output))
    if bundler:
        return bundler
    refused = _REFUSED.search(output)
    if refused is not None:
        return [_read_refusal(refused["rest"], refused["code"])]
    return [_read_refusal(output, "Error")] if output.strip() else []


def _bundler_errors(output: str) -> Iterator[Diagnostic]:
    for match in _BUNDLER.finditer(output):
        file = match["file"]
        place = Place(file, int(match["line"]), int(match["column"])) if file else NOWHERE
        yield bundler_error(match["message"].strip(), place)


def _read_refusal(text: str, code: str) -> Diagnostic:
    lines = [_SIGN.sub("", line).rstrip() for line in text.strip().splitlines()]
    told = [line for line in lines if line and not _HEADING.match(line)]
    message = "\n".join(told) or text.strip()
    analysed = _FAILED_ANALYSIS.search(message)
    message = analysed["rest"] if analysed else message
    found = _PLACE.search(message)
    if found is not None:
        place = Place(found["file"], int(found["line"]), int(found["column"]) if found["column"] else None)
    else:
        place = Place(f"convex/{analysed['module'].removesuffix('.js')}.ts") if analysed else NOWHERE
    return refusal(code, message, place)


def _source(module: str, functions: Path) -> str:
    """The file that a bundled module was made from, relative to the project."""
    stem = module.removesuffix(".js")
    suffix = next((each for each in _SUFFIXES if (functions / f"{stem}{each}").is_file()), ".ts")
    return f"{functions.name}/{stem}{suffix}"
