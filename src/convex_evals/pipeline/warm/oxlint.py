"""oxlint kept warm, one process per configuration and set of packages.

It starts tsgolint, which knows the types, for each answer.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import base_environment
from convex_evals.core.toolchain import Toolchain
from convex_evals.pipeline.warm.host import (
    GO_PROGRAMS,
    Setup,
    WarmHost,
    WarmProcess,
    limits_for,
    process_folder,
)

JOB_SECONDS: Final = 20.0
MOST_JOBS: Final = 200
MOST_MEMORY: Final = 600 * MEBIBYTE
CONFIG: Final = Path("program/oxlint.json")
OXLINT: Final = Path(__file__).with_name("oxlint.cjs")


@dataclass(frozen=True, slots=True)
class OxlintJob:
    """`read` are the packages of the answer."""

    node: Path
    binding: Path
    tsgolint: Path
    config: str
    read: tuple[Path, ...]
    folder: Path
    options: tuple[str, ...]

    @property
    def setup(self) -> Setup:
        return self.node, self.binding, self.tsgolint, self.config, self.read


@dataclass(frozen=True, slots=True)
class OxlintResult:
    report: str
    wall_ms: float
    cpu_ms: float


def find_binding(toolchain: Toolchain) -> Path | None:
    """Its native part, if it is where we expect it."""
    bindings = [*toolchain.packages.node_modules.glob("@oxlint/binding-*/oxlint.*.node")]
    return bindings[0] if len(bindings) == 1 else None


class _WarmOxlint(WarmProcess[OxlintJob, OxlintResult]):
    async def ask(self, job: OxlintJob, place: Path) -> OxlintResult:
        clock = asyncio.get_running_loop().time
        started, spent = clock(), self.cpu_ms
        options = [f"--config={self.folder / CONFIG}", *job.options]
        self.process.stdin.write(json.dumps({"folder": str(place), "options": options}).encode() + b"\n")
        report = await self.process.stdout.readuntil(b"\0")
        if self.memory > MOST_MEMORY:
            self.retire()
        text = report[:-1].decode().replace(str(place), str(job.folder))
        return OxlintResult(text, (clock() - started) * 1000, self.cpu_ms - spent)


@dataclass
class OxlintHost(WarmHost[OxlintJob, OxlintResult]):
    name: str = "oxlint"

    async def start(self, job: OxlintJob) -> _WarmOxlint:
        async with process_folder("oxlint-") as place:
            program = place.path / "program" / OXLINT.name
            program.write_bytes(OXLINT.read_bytes())
            (place.path / CONFIG).write_text(job.config)
            home = place.path / "home"
            environment = {"CI": "1", "TMPDIR": str(home), "OXLINT_TSGOLINT_PATH": str(job.tsgolint), **GO_PROGRAMS}
            process = await place.start(
                [job.node, program, job.binding],
                base_environment(home, environment),
                limits_for(MOST_JOBS, JOB_SECONDS),
                (job.node, job.binding.parent, job.tsgolint.parent, *job.read),
            )
            return _WarmOxlint(process, place.path, place.stack, MOST_JOBS, JOB_SECONDS)
