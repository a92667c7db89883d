"""Runs the compiler over the checked copy."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.processes import ProcessResult
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.typecheck.checked import SUBMITTED, Area, CheckedCopy
from convex_evals.pipeline.types import Compiler, StepResult

PLACED: Final = re.compile(r"(?:(?P<file>[^\s(][^(\n]*)\((?P<line>\d+),(?P<column>\d+)\): )?error (?P<code>TS\d+): ")
_QUOTED: Final = 10
_QUOTED_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error: its first line, and the lines that explain it."""

    text: str

    @property
    def excerpt(self) -> str:
        return "\n".join(self.text.splitlines()[:_QUOTED_LINES])


async def check_types(step: RunningStep, checked: CheckedCopy, compiler: Compiler) -> StepResult:
    for note in checked.notes:
        step.note(note)
    for area in checked.areas:
        step.say(f"{area.folder}/tsconfig.json:\n{area.tsconfig}")
    results = await asyncio.gather(*(_compile(step, checked.folder, area, compiler) for area in checked.areas))
    diagnostics: dict[str, Diagnostic] = {}
    for result in results:
        found = parse_diagnostics(result.output.read().decode(errors="replace"))
        if not result.ok and (accident := step.accident(result) or (None if found else "tool-crashed")):
            return step.failed(accident, f"tsc was {result.ending}: {result.output.text[:1000]}")
        diagnostics.update({diagnostic.text: diagnostic for diagnostic in found})
    if not diagnostics:
        return step.passed()
    return step.failed("type-errors", _excerpt(list(diagnostics.values())))


def parse_diagnostics(output: str) -> list[Diagnostic]:
    """From `tsc --pretty false`. Lines that are indented belong to the error above them."""
    blocks: list[list[str]] = []
    for line in output.replace(SUBMITTED, "tsconfig.json").splitlines():
        if PLACED.match(line):
            blocks.append([line])
        elif blocks and line.startswith(" "):
            blocks[-1].append(line)
    return [Diagnostic("\n".join(block)) for block in blocks]


async def _compile(step: RunningStep, folder: Path, area: Area, compiler: Compiler) -> ProcessResult:
    toolchain = step.tools.toolchain
    native = [str(toolchain.binary("tsc")), "--singleThreaded"]
    command = native if compiler == "7" else toolchain.node_command("typescript", "tsc")
    return await step.run([*command, "--pretty", "false", "--project", area.folder], cwd=folder)


def _excerpt(diagnostics: list[Diagnostic]) -> str:
    lines = [diagnostic.excerpt for diagnostic in diagnostics[:_QUOTED]]
    if len(diagnostics) > _QUOTED:
        lines.append(f"… and {len(diagnostics) - _QUOTED} more")
    return "\n".join(lines)
