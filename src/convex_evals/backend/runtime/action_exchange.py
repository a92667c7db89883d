"""The conversation about one action: syscalls run concurrently, blobs and bodies travel as bytes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.runtime.exchange import Exchange, LogLines
from convex_evals.backend.runtime.execution import (
    Execution,
    Failure,
    HttpRequestHead,
    HttpResponseHead,
    LogBridge,
    LogLine,
    Outcome,
    StorageBridge,
    SyscallBridge,
)
from convex_evals.backend.runtime.limits import (
    MAX_NODE_LOG_CHARACTERS,
    MOST_RESPONSE_BYTES,
    MOST_STORED_BYTES,
    timed_out,
)
from convex_evals.backend.runtime.process import WorkerProcess
from convex_evals.backend.runtime.protocol import BytesFrame, Head, Load, Message, ProtocolError, Store, WorkerMessage

BODY_CHANNEL: Final = 1  # of the request body to the worker, and of the response body from it
BODILESS: Final = ("GET", "HEAD", "OPTIONS")


class ActionExchange(Exchange):
    def __init__(self, number: int, execution: Execution, bridge: SyscallBridge, worker: WorkerProcess) -> None:
        super().__init__(number, execution, bridge, worker.send)
        self._worker = worker
        self._bytes = BytesFrame(0, b"")  # the last ones; they belong to the next message
        self._stored_bytes = 0  # in memory
        self._transfer = asyncio.Lock()  # one file at a time is in memory
        if execution.environment == "node":
            self._logs = LogLines(MAX_NODE_LOG_CHARACTERS)

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        match message:
            case BytesFrame():
                self._bytes = message
            case Store():
                self.start(self._store(message, self._take_bytes(message.seq)))
            case Load():
                self.start(self._load(message))
            case _:
                super().received(message)

    def _take_bytes(self, seq: int) -> bytes:
        taken, self._bytes = self._bytes, BytesFrame(0, b"")
        if taken.channel != seq:
            raise ProtocolError("a file without its bytes")
        self._stored_bytes += len(taken.data)
        if self._stored_bytes > MOST_STORED_BYTES:
            raise ProtocolError(f"more than {MOST_STORED_BYTES} bytes to be stored at once")
        return taken.data

    def _wrote(self, lines: Sequence[LogLine]) -> None:
        if isinstance(self._bridge, LogBridge):
            self._bridge.logged(lines)

    async def _store(self, message: Store, content: bytes) -> None:
        try:
            value = await self._storage.store_blob(content, message.content_type, message.sha256)
        except DeveloperError as error:
            self._reply_to_operation(message, {"error": error.message})
        else:
            self._reply_to_operation(message, {"value": value})
        finally:
            self._stored_bytes -= len(content)

    async def _load(self, message: Load) -> None:
        async with self._transfer:
            await self._worker.writable()
            try:
                blob = await self._storage.load_blob(message.storage_id)
            except DeveloperError as error:
                self._reply_to_operation(message, {"error": error.message})
                return
            if blob is None:
                self._reply_to_operation(message, {"value": None})
                return
            self._worker.send_bytes(message.seq, blob.content)
            self._reply_to_operation(message, {"value": {"contentType": blob.content_type}})

    @property
    def _storage(self) -> StorageBridge:
        if isinstance(self._bridge, StorageBridge):
            return self._bridge
        raise DeveloperError("This deployment has no file storage")

    def _reply_to_operation(self, message: Store | Load, reply: Message) -> None:
        self._send({"op": "operation", "id": self.number, "seq": message.seq, **reply})

    def timed_out(self) -> None:
        seconds = round(self.execution.total_seconds)
        if self.execution.environment == "node":
            text = f"Action `{self.execution.path.function}` execution timed out (maximum duration {seconds}s)"
        else:
            text = timed_out(seconds)
        self.finish(None, Failure(text, catchable=False))


class HttpExchange(ActionExchange):
    """An HTTP action. `head` is None when the function failed before it answered; `outcome` has the failure."""

    def __init__(
        self,
        number: int,
        execution: Execution,
        bridge: SyscallBridge,
        worker: WorkerProcess,
        request: HttpRequestHead,
        body: AsyncIterator[bytes] | None,
        disconnected: asyncio.Event | None = None,
    ) -> None:
        super().__init__(number, execution, bridge, worker)
        self._disconnected = disconnected
        self.head: asyncio.Future[HttpResponseHead | None] = asyncio.get_running_loop().create_future()
        self._request = request
        self._request_body = None if request.method in BODILESS else body
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.request_bytes = 0
        self.response_bytes = 0

    def run_message(self, code: str, environment_id: str) -> Message:
        request = self._request
        return {
            **super().run_message(code, environment_id),
            "request": {
                "method": request.method,
                "url": request.url,
                "path": request.path,
                "headerPairs": request.headers,
                "hasBody": self._request_body is not None,
            },
        }

    def started(self) -> None:
        if self._request_body is not None:
            self.start(self._send_body(self._request_body))
        if self._disconnected is not None:
            self.start(self._abort_after(self._disconnected))

    async def _send_body(self, body: AsyncIterator[bytes]) -> None:
        async for chunk in body:
            if chunk:
                self.request_bytes += len(chunk)
                self._worker.send_bytes(BODY_CHANNEL, chunk)
        self._send({"op": "bodyEnd", "id": self.number})

    async def _abort_after(self, disconnected: asyncio.Event) -> None:
        await disconnected.wait()
        self.abort()

    def received(self, message: WorkerMessage | BytesFrame) -> None:
        if isinstance(message, BytesFrame) and message.channel == BODY_CHANNEL:
            self.response_bytes += len(message.data)
            if self.response_bytes > MOST_RESPONSE_BYTES:
                raise ProtocolError(f"a response of more than {MOST_RESPONSE_BYTES} bytes")
            self._chunks.put_nowait(message.data)
        elif isinstance(message, Head):
            if not self.head.done():
                self.head.set_result(HttpResponseHead(message.status, message.headers))
        else:
            super().received(message)

    def finish(self, result: str | None, failure: Failure | None, clock_read: bool = False) -> None:
        super().finish(result, failure, clock_read)
        self._end()

    def lost(self, error: Exception) -> None:
        super().lost(error)
        self._end()

    def _end(self) -> None:
        self._chunks.put_nowait(None)
        if not self.head.done():
            self.head.set_result(None)

    async def chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self._chunks.get()) is not None:
            yield chunk

    def abort(self) -> None:
        """Fires `request.signal`, because the client is gone."""
        self._send({"op": "abort", "id": self.number})


class HttpAnswer:
    """The answer of an HTTP action. Read all of `body`, or call `abort` when the client is gone; then `outcome`."""

    def __init__(self, exchange: HttpExchange, head: HttpResponseHead | None, outcome: "asyncio.Task[Outcome]") -> None:
        self.head = head
        self._exchange = exchange
        self._outcome = outcome

    @property
    def body(self) -> AsyncIterator[bytes]:
        return self._exchange.chunks()

    def abort(self) -> None:
        self._exchange.abort()

    async def outcome(self) -> Outcome:
        """Raises WorkerLost."""
        return await self._outcome
