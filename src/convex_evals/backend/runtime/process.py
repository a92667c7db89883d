"""One worker: a Node process, and the two sockets to it."""

import asyncio
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from convex_evals.backend.errors import WorkerCrashed, WorkerLost
from convex_evals.backend.runtime.network import Gateway, Outside
from convex_evals.backend.runtime.program import Program, WorkerCommand
from convex_evals.backend.runtime.protocol import (
    BytesFrame,
    FrameParser,
    Message,
    ProtocolError,
    Ready,
    WorkerMessage,
    bytes_frame,
    check_question,
    json_frame,
    parse_message,
)

START_SECONDS: Final = 30.0
OUT_OF_MEMORY_SIGNS: Final = ("heap out of memory", "Out of memory", "Allocation failed", "out of memory")


@dataclass(frozen=True, slots=True)
class WorkerDeath:
    status: int
    output: str
    fault: str | None = None  # the protocol error that ended it

    @property
    def was_memory(self) -> bool:
        return any(sign in self.output for sign in OUT_OF_MEMORY_SIGNS)

    @property
    def how(self) -> str:
        if self.fault is not None:
            return f"sent {self.fault}"
        if self.status >= 0:
            return f"ended with exit code {self.status}"
        return f"was ended by {signal.Signals(-self.status).name}"

    def error(self) -> WorkerCrashed:
        return WorkerCrashed(f"the function worker {self.how}: {self.output[-500:].strip()}")


class Listener(Protocol):
    """Handles what the worker sends."""

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        """Raises ProtocolError."""
        ...

    def asked(self, question: Message) -> Message: ...

    def died(self, death: WorkerDeath) -> None: ...


class _Socket(asyncio.Protocol):
    """Stops reading from a worker that does not read."""

    transport: asyncio.Transport

    def __init__(
        self,
        on_frame: Callable[[Message | BytesFrame], None],
        on_fault: Callable[[ProtocolError], None],
        on_end: Callable[[], None],
    ) -> None:
        self._parser = FrameParser()
        self._on_frame = on_frame
        self._on_fault = on_fault
        self._on_end = on_end
        self._is_broken = False
        self.writable = asyncio.Event()
        self.writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._is_broken:
            return
        try:
            for frame in self._parser.feed(data):
                self._on_frame(frame)
        except ProtocolError as error:
            self._is_broken = True
            self._on_fault(error)

    def pause_writing(self) -> None:
        self.writable.clear()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.writable.set()
        self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.writable.set()
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
        self.gateway: Gateway | None = None
        self._fault: str | None = None
        self._frames: asyncio.Transport | None = None
        self._questions: asyncio.Transport | None = None
        self._frame_socket: _Socket | None = None

    @classmethod
    async def start(cls, command: WorkerCommand, listener: Listener, outside: Outside | None = None) -> "WorkerProcess":
        """`outside` is what a worker with a port reaches through it. Raises WorkerLost when it does not start."""
        program = await Program.start(command)
        worker = cls(program, listener)
        if program.listener is not None:
            worker.gateway = Gateway(program.listener, outside or Outside())
        try:
            await worker._connect(program.frames, program.questions)
            await worker._until_ready()
        except BaseException:
            await worker.stop()
            raise
        if worker.gateway is not None:
            worker.send({"op": "network", "port": worker.gateway.port})
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
        self._frames, self._frame_socket = await loop.create_connection(
            lambda: _Socket(self._on_frame, self._on_fault, self._on_end), sock=frames
        )
        self._questions, _ = await loop.create_connection(
            lambda: _Socket(self._on_question, self._on_fault, lambda: None), sock=questions
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

    async def writable(self) -> None:
        """Waits until the worker has read most of what it was sent."""
        if self._frame_socket is not None:
            await self._frame_socket.writable.wait()

    async def stop(self) -> None:
        """Kills it with everything it started, and waits for its end."""
        self._is_stopped = True
        self.kill()
        await self._program.status()
        await self._program.output()
        if self._end is not None:
            await self._end
        await self._close()

    async def _close(self) -> None:
        if self.gateway is not None:
            self.gateway.close()
            self.gateway = None
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
        message = frame if isinstance(frame, BytesFrame) else parse_message(frame)
        if isinstance(message, Ready):
            if not self._ready.done():
                self._ready.set_result(None)
        else:
            self._listener.received(message)

    def _on_question(self, frame: Message | BytesFrame) -> None:
        if isinstance(frame, BytesFrame):
            raise ProtocolError("a question in bytes")
        self.signs_of_life += 1
        answer = self._listener.asked(check_question(frame))
        if self._questions is not None:
            self._questions.write(json_frame(answer))

    def _on_fault(self, error: ProtocolError) -> None:
        self._fault = self._fault or str(error)
        self._on_end()

    def _on_end(self) -> None:
        if self._end is None:
            self._end = asyncio.create_task(self._report_death())

    async def _report_death(self) -> None:
        if self._is_stopped:
            return
        self.kill()  # a worker without its socket is useless
        death = WorkerDeath(await self._program.status(), await self._program.output(), self._fault)
        await self._close()
        if not self._ready.done():
            self._ready.set_exception(death.error())
        if not self._is_stopped:
            self._listener.died(death)
