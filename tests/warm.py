"""What costs more to make than most tests take, made once for each process that runs tests: tables of scores, and
grading workers. Tests about making them use the real thing, which everything outside of tests does.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings
from convex_evals.pipeline import Assignment, Grade
from convex_evals.runner.worker import COMMAND, LOG, GradingWorker, OnStep
from convex_evals.scores.database import Location
from convex_evals.scores.records import Upgrade
from convex_evals.scores.schema import REVISIONS, Revisions, upgrade_database, upgrade_schema


class ScoresTemplate:
    """The tables of an empty database. Copying them takes a hundredth of what the migrations take."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "template.db"
        upgrade_database(self._file)

    def upgrade_schema(self, location: Location, revisions: Revisions = REVISIONS) -> Upgrade:
        path = location.path
        if path is None or revisions is not REVISIONS or (path.exists() and path.stat().st_size):
            return upgrade_schema(location, revisions)
        shutil.copyfile(self._file, path)
        return Upgrade(location.shown, None, revisions.head, None)


@dataclass
class WarmProcess:
    """A grading worker that outlives the command it grades for."""

    folder: Path
    popen: subprocess.Popen[bytes]
    channel: socket.socket

    @property
    def pid(self) -> int:
        return self.popen.pid

    def kill(self) -> None:
        self.channel.close()
        os.killpg(self.pid, signal.SIGKILL)

    async def wait(self) -> Any:
        code = await asyncio.to_thread(self.popen.wait)
        return _Ended(code if code >= 0 else None, -code if code < 0 else None)


@dataclass(frozen=True)
class _Ended:
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True)
class _Conversation:
    process: WarmProcess
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader


Key = tuple[tuple[tuple[str, str], ...], Sandbox]


@dataclass
class WarmWorkers:
    """Processes that wait for the next command, by their environment."""

    folder: Path
    idle: dict[Key, list[WarmProcess]] = field(default_factory=dict)
    _numbers: Any = field(default_factory=count)

    def take(self, key: Key) -> WarmProcess:
        waiting = [process for process in self.idle.pop(key, []) if process.popen.poll() is None]
        if waiting:
            self.idle[key] = waiting[1:]
            return waiting[0]
        return self._start(dict(key[0]), key[1])

    def give_back(self, key: Key, process: WarmProcess) -> None:
        self.idle.setdefault(key, []).append(process)

    def _start(self, environment: dict[str, str], sandbox: Sandbox) -> WarmProcess:
        folder = self.folder / f"worker-{next(self._numbers)}"
        folder.mkdir()
        ours, theirs = socket.socketpair()
        with theirs, (folder / LOG).open("ab") as log:
            popen = subprocess.Popen(
                (*COMMAND, sandbox),
                cwd=folder,
                stdin=theirs,
                stdout=theirs,
                stderr=log,
                env={**environment, "TMPDIR": str(folder)},
                start_new_session=True,
            )
        return WarmProcess(folder, popen, ours)

    def close(self) -> None:
        """A worker ends when nobody can talk to it any more, and takes along what it has started."""
        for process in (process for waiting in self.idle.values() for process in waiting):
            process.channel.close()
            process.popen.wait(60)

    @asynccontextmanager
    async def worker(self, settings: Settings, folder: Path) -> AsyncIterator[GradingWorker]:
        """In place of `grading_worker`."""
        worker = WarmWorker(settings, folder, workers=self)
        try:
            yield worker
        finally:
            await worker.close()


@dataclass
class WarmWorker(GradingWorker):
    workers: WarmWorkers = field(default_factory=lambda: WarmWorkers(Path()))
    _busy: bool = False
    _key: Key = ((), "required")

    async def grade(self, assignment: Assignment, on_step: OnStep) -> Grade:
        self._busy = True
        grade = await super().grade(assignment, on_step)
        self._busy = False
        return grade

    async def _running(self, sandbox: Sandbox) -> Any:
        if self._process is not None and self._key[1] != sandbox:
            await self.discard()
        if self._process is None:
            environment = {name: value for name, value in self._environment().items() if name != "TMPDIR"}
            self._key = tuple(sorted(environment.items())), sandbox
            process = self.workers.take(self._key)
            ours = socket.socket(fileno=os.dup(process.channel.fileno()))
            stdout, stdin = await asyncio.open_connection(sock=ours, limit=1 << 20)
            self.folder = process.folder
            self._process = _Conversation(process, stdin, stdout)  # type: ignore[assignment]
        return self._process

    async def close(self) -> None:
        conversation: Any = self._process
        self._process = None
        if conversation is None:
            return
        conversation.stdin.transport.abort()
        if self._busy:
            conversation.process.kill()
            await conversation.process.wait()
        else:
            self.workers.give_back(self._key, conversation.process)

    async def discard(self) -> None:
        self._busy = True
        await super().discard()
