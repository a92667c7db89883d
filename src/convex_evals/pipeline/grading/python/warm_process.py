"""Our end of one warm process that Python graders are forked from (its own end is `serving.py`)."""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import PipedProcess, base_environment, start_piped
from convex_evals.pipeline.grading.python.confinement import WARM
from convex_evals.pipeline.grading.python.job import Job

COMMAND: Final = (sys.executable, "-I", "-m", "convex_evals.pipeline.grading")
LAST_WORDS: Final = 2000

Ending = dict[str, Any]


@dataclass
class WarmProcess:
    """`is_over` as soon as it has died; jobs that ran then end with a ProcessError."""

    process: PipedProcess
    errors: Path
    is_over: bool = False
    _waiting: dict[int, asyncio.Future[Ending]] = field(default_factory=dict)
    _last_number: int = 0

    @classmethod
    @asynccontextmanager
    async def start(cls) -> AsyncIterator["WarmProcess"]:
        with (
            tempfile.TemporaryDirectory(prefix="grader-host-") as name,
            (Path(name) / "errors.log").open("wb") as errors,
        ):
            home = Path(name)
            environment = base_environment(home)
            starting = start_piped(COMMAND, cwd=home, stderr=errors.fileno(), environment=environment, confinement=WARM)
            async with starting as process:
                warm = cls(process, home / "errors.log")
                listening = asyncio.create_task(warm._listen())
                yield warm
            await listening  # ends with the process

    async def run(self, job: Job) -> Ending:
        """Runs a grader to its end. Cancelling kills it first."""
        self._last_number += 1
        number = self._last_number
        self._waiting[number] = ended = asyncio.get_running_loop().create_future()
        self.process.stdin.write(f"run {number} {job.dumps()}\n".encode())
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            self.process.stdin.write(f"stop {number}\n".encode())
            with suppress(ProcessError):
                await ended
            raise

    async def _listen(self) -> None:
        with suppress(ConnectionResetError):  # it died with orders unread
            async for line in self.process.stdout:
                ending = json.loads(line)
                self._waiting.pop(ending["number"]).set_result(ending)
        self.is_over = True
        reason = await asyncio.to_thread(self.errors.read_text, errors="replace")
        for future in self._waiting.values():
            future.set_exception(
                ProcessError(f"The process that runs Python graders ended; its last words: {reason[-LAST_WORDS:]!r}.")
            )
