"""One worker: a Node process, and the conversation over the two sockets to it."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from convex_evals.backend.errors import SystemFailure, WorkerLost
from convex_evals.backend.runtime.frames import BytesFrame, FrameParser, Message, bytes_frame, json_frame
from convex_evals.backend.runtime.program import Program, WorkerCommand

START_SECONDS: Final = 30.0
OUT_OF_MEMORY_SIGNS: Final = ("heap out of memory", "Out of memory", "Allocation failed", "out of memory")


@dataclass(frozen=True, slots=True)
class WorkerDeath:
    status: int
    output: str

    @property
    def was_memory(self) -> bool:
        return any(sign in self.output for sign in OUT_OF_MEMORY_SIGNS)

    def error(self) -> WorkerLost:
        return WorkerLost(f"the function worker ended with status {self.status}: {self.output[-500:].strip()}")


class Listener(Protocol):
    """Who talks to the worker."""

    def received(self, message: Message | BytesFrame) -> None: ...

    def asked(self, question: Message) -> Message: ...

    def died(self, death: WorkerDeath) -> None: ...


class _Socket(asyncio.Protocol):
    def __init__(self, on_frame: Callable[[Message | BytesFrame], None], on_end: Callable[[], None]) -> None:
        self._parser = FrameParser()
        self._on_frame = on_frame
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        for frame in self._parser.feed(data):
            self._on_frame(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class WorkerProcess:
    """Use `start`. `died` of the listener is called once, unless the worker was stopped."""

    def __init__(self, program: Program, listener: Listener) -> None:
        self._program = program
        self._listener = listener
        self._ready = asyncio.get_running_loop().create_future()
        self._end: asyncio.Task[None] | None = None
        self._is_stopped = False
        self.signs_of_life = 0
        self._frames: asyncio.WriteTransport | None = None
        self._questions: asyncio.WriteTransport | None = None

    @classmethod
    async def start(cls, command: WorkerCommand, listener: Listener) -> "WorkerProcess":
        """Raises WorkerLost when it does not start."""
        program = await Program.start(command)
        worker = cls(program, listener)
        try:
            await worker._connect(program.frames, program.questions)
            await worker._until_ready()
        except BaseException:
            await worker.stop()
            raise
        if command.memory_bytes is not None:
            program.limit_memory(command.memory_bytes)
        return worker

    async def _until_ready(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._ready
        except TimeoutError as error:
            raise WorkerLost(f"the function worker did not start within {START_SECONDS:.0f} s") from error

    async def _connect(self, frames: socket.socket, questions: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._frames, _ = await loop.create_connection(lambda: _Socket(self._on_frame, self._on_end), sock=frames)
        self._questions, _ = await loop.create_connection(
            lambda: _Socket(self._on_question, lambda: None), sock=questions
        )

    @property
    def pid(self) -> int:
        return self._program.pid

    def send(self, message: Message) -> None:
        if self._frames is not None and not self._frames.is_closing():
            self._frames.write(json_frame(message))

    def send_bytes(self, channel: int, data: bytes) -> None:
        if self._frames is not None and not self._frames.is_closing():
            self._frames.write(bytes_frame(channel, data))

    async def stop(self) -> None:
        """Kills it with everything it started, and waits for that."""
        self._is_stopped = True
        self.kill()
        await self._program.status()
        await self._program.output()
        if self._end is not None:
            await self._end
        await self._close()

    async def _close(self) -> None:
        for transport in (self._frames, self._questions):
            if transport is not None:
                transport.close()
        await asyncio.sleep(0)  # lets the transports close their sockets

    def kill(self) -> None:
        self._program.kill()

    def interrupt(self) -> None:
        """Ends the user code that runs right now."""
        self._program.interrupt()

    def main_thread_seconds(self) -> float:
        return self._program.main_thread_seconds()

    def _on_frame(self, frame: Message | BytesFrame) -> None:
        self.signs_of_life += 1
        if isinstance(frame, dict) and frame["op"] == "ready":
            if not self._ready.done():
                self._ready.set_result(None)
        else:
            self._listener.received(frame)

    def _on_question(self, frame: Message | BytesFrame) -> None:
        if isinstance(frame, BytesFrame):
            raise SystemFailure("a worker asked in bytes")
        self.signs_of_life += 1
        answer = self._listener.asked(frame)
        if self._questions is not None:
            self._questions.write(json_frame(answer))

    def _on_end(self) -> None:
        self._end = asyncio.create_task(self._report_death())

    async def _report_death(self) -> None:
        if self._is_stopped:
            return
        self.kill()  # a worker without its socket is of no use
        death = WorkerDeath(await self._program.status(), await self._program.output())
        await self._close()
        if not self._ready.done():
            self._ready.set_exception(death.error())
        if not self._is_stopped:
            self._listener.died(death)
