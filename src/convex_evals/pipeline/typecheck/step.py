"""Runs the compiler over the checked copy."""

import asyncio
import re
from typing import Final

from convex_evals.core.diagnostics import NOWHERE, Diagnostic, Place, type_error
from convex_evals.core.processes import ProcessResult
from convex_evals.core.steps import StepResult
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.step import RunningStep, blame, ending_of, output_of
from convex_evals.pipeline.tools import linked_packages
from convex_evals.pipeline.typecheck.checked import Area, CheckedCopy, make_checked_copy
from convex_evals.pipeline.types import Compiler
from convex_evals.pipeline.warm import TscJob

_ERROR: Final = re.compile(r"(?:(?P<file>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): )?error (?P<code>TS\d+): ")
_TO_PACKAGES: Final = re.compile(r'(?<=import\(")[^"\n]*/(?=node_modules/)')
_QUOTED: Final = 10
_QUOTED_LINES: Final = 5
WITH_DECLARATIONS: Final = ("--skipLibCheck", "false")


async def check_types(step: RunningStep, checked: CheckedCopy, compiler: Compiler) -> StepResult:
    for note in checked.notes:
        step.note(note)
    for area in checked.areas:
        step.say(f"{area.folder}/tsconfig.json:\n{area.tsconfig}")
    doubtful = [area for area in checked.areas if not await _is_flawless(step, checked, area, compiler)]
    results = await asyncio.gather(*(_compile(step, checked, area, compiler) for area in doubtful))
    # `skipLibCheck` is for the declarations of packages: errors in the project's own count.
    declaring = await _areas_to_check(step, checked, compiler)
    declared = [await _compile(step, checked, area, compiler, WITH_DECLARATIONS) for area in declaring]
    for result in (*results, *declared):
        if not result.ok and (accident := step.accident(result) or (None if _diagnostics(result) else "tool-crashed")):
            kind = await blame(step, accident, result, f"tsc {compiler}", lambda trial: _works(trial, compiler))
            return step.failed(kind, ending_of(kind, "tsc", result))
    found = [each for result in results for each in _diagnostics(result)]
    found += [each for result in declared for each in _diagnostics(result) if each.file in checked.declarations]
    diagnostics = [*dict.fromkeys((*checked.errors, *found))]  # each once, however many areas it was found in
    return step.failed("type-errors", _excerpt(diagnostics), diagnostics) if diagnostics else step.passed()


async def _is_flawless(
    step: RunningStep, checked: CheckedCopy, area: Area, compiler: Compiler, declarations: tuple[str, ...] = ()
) -> bool:
    """Whether a warm compiler finds no errors, or none in these declarations. If it does, the command says what they
    are."""
    if compiler != "7":
        return False
    toolchain = step.tools.toolchain
    binary = toolchain.binary("tsc")
    packages = linked_packages(checked.folder, step.tools)
    job = TscJob(binary, packages, (toolchain.packages.folder,), checked.folder, area.folder, declarations)
    compiled = await step.tools.tsc.do(job)
    if isinstance(compiled, str):
        step.say(compiled)
        return False
    reply = f"{'errors' if compiled.errors else 'no errors'} in {', '.join(declarations) or area.folder}"
    step.record_request(
        (str(binary), "--api", "--project", f"./{area.folder}"), compiled.wall_ms, compiled.cpu_ms, reply
    )
    return not compiled.errors


def parse_diagnostics(output: str) -> list[Diagnostic]:
    """From `tsc --pretty false`. Lines that are indented belong to the error above them.

    Where a type comes from does not depend on the folder that packages are installed in."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in _TO_PACKAGES.sub("", output).splitlines():
        if match := _ERROR.match(line):
            found.append((match, [line[match.end() :]]))
        elif found and line.startswith(" "):
            found[-1][1].append(line)
    return [type_error(match["code"], "\n".join(message), _place(match)) for match, message in found]


def _place(match: re.Match[str]) -> Place:
    return Place(match["file"], int(match["line"]), int(match["column"])) if match["file"] else NOWHERE


async def _areas_to_check(step: RunningStep, checked: CheckedCopy, compiler: Compiler) -> list[Area]:
    """Those whose declarations may have errors: each by the rules of the area it lies in, or of all areas."""
    inside = {area: checked.declarations_in(area) for area in checked.areas}
    if len(checked.declarations) > sum(map(len, inside.values())):
        return [*checked.areas]
    return [
        area
        for area, declarations in inside.items()
        if declarations and not await _is_flawless(step, checked, area, compiler, declarations)
    ]


def compiler_command(toolchain: Toolchain, compiler: Compiler) -> list[str]:
    """What it prints, `parse_diagnostics` reads."""
    native = [str(toolchain.binary("tsc")), "--singleThreaded"]
    return [*(native if compiler == "7" else toolchain.node_command("typescript", "tsc")), "--pretty", "false"]


async def _compile(
    step: RunningStep, checked: CheckedCopy, area: Area, compiler: Compiler, more: tuple[str, ...] = ()
) -> ProcessResult:
    toolchain = step.tools.toolchain
    return await step.run(
        [*compiler_command(toolchain, compiler), "--project", f"./{area.folder}", *more],
        cwd=checked.folder,
        read=(checked.folder, toolchain.packages.folder, *linked_packages(checked.folder, step.tools)),
    )


async def _works(trial: RunningStep, compiler: Compiler) -> bool:
    checked = make_checked_copy(trial.workspace.project, trial.workspace.checked)
    return (await _compile(trial, checked, checked.areas[0], compiler)).ok


def _diagnostics(result: ProcessResult) -> list[Diagnostic]:
    return parse_diagnostics(output_of(result.output))


def _excerpt(diagnostics: list[Diagnostic]) -> str:
    lines = [_quoted(diagnostic) for diagnostic in diagnostics[:_QUOTED]]
    if len(diagnostics) > _QUOTED:
        lines.append(f"… and {len(diagnostics) - _QUOTED} more")
    return "\n".join(lines)


def _quoted(error: Diagnostic) -> str:
    """As the compiler prints it: its first line, and the lines that explain it."""
    place = f"{error.file}({error.line},{error.column}): " if error.file else ""
    return "\n".join(f"{place}error {error.name}: {error.message}".splitlines()[:_QUOTED_LINES])
