"""ESLint kept warm, one process per configuration and set of packages. `eslint.mjs` is the other end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import base_environment
from convex_evals.pipeline.warm.host import (
    Setup,
    UnusualJobError,
    WarmHost,
    WarmProcess,
    limits_for,
    process_folder,
    real_temporary_folder,
)

JOB_SECONDS: Final = 60.0
MOST_JOBS: Final = 30
MOST_MEMORY: Final = 900 * MEBIBYTE
WORKER: Final = "eslint.mjs"
PROGRAM: Final = (WORKER, "packages.mjs")


@dataclass(frozen=True, slots=True)
class EslintJob:
    """`pattern` in `folder`, by `config`. The process may read `read` besides: configuration, tools, packages."""

    node: Path
    script: Path  # ESLint's own
    config: Path
    read: tuple[Path, ...]
    folder: Path
    pattern: str

    @property
    def setup(self) -> Setup:
        return self.node, self.script, self.config, self.read


@dataclass(frozen=True, slots=True)
class Linted:
    """What ESLint's JSON format says about each file, as if it had been run in the job's own folder."""

    reports: list[dict[str, Any]]
    wall_ms: float
    cpu_ms: float


class _WarmEslint(WarmProcess[EslintJob, Linted]):
    async def ask(self, job: EslintJob, place: Path) -> Linted:
        order = {"id": place.name, "folder": str(place), "config": str(job.config), "pattern": job.pattern}
        clock = asyncio.get_running_loop().time
        started = clock()
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        line = await self.process.stdout.readline()
        if not line:
            raise EOFError
        reply = _read(line.replace(str(place).encode(), json.dumps(str(job.folder))[1:-1].encode()), place.name)
        if reply["memory"] > MOST_MEMORY:
            self.retire()
        return Linted(reply["reports"], (clock() - started) * 1000, reply["cpu"])


def _read(line: bytes, name: str) -> dict[str, Any]:
    try:
        reply = json.loads(line)
        if reply["id"] != name:
            raise UnusualJobError("a reply to another job")
        if "error" in reply or not reply["reusable"]:
            raise UnusualJobError(str(reply.get("error", "something was left behind")))
        return {"reports": list(reply["reports"]), "cpu": float(reply["cpu"]), "memory": float(reply["memory"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnusualJobError("an unreadable reply") from error


@dataclass
class EslintHost(WarmHost[EslintJob, Linted]):
    name: str = "ESLint"
    folder: Path = field(default_factory=Path)
    """For configurations of ours; those of suites stay where they are."""

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncIterator["EslintHost"]:
        with real_temporary_folder("eslint-configuration-") as folder:
            async with cls(folder=folder) as host:
                yield host

    async def start(self, job: EslintJob) -> _WarmEslint:
        async with process_folder("eslint-") as place:
            for name in PROGRAM:
                (place.path / "program" / name).write_bytes((files(__package__) / name).read_bytes())
            home = place.path / "home"
            process = await place.start(
                [job.node, place.path / "program" / WORKER, job.script],
                base_environment(home, {"CI": "1", "TMPDIR": str(home)}),
                limits_for(MOST_JOBS, JOB_SECONDS),
                (job.node, *job.read),
            )
            return _WarmEslint(process, place.path, place.stack, MOST_JOBS, JOB_SECONDS)
