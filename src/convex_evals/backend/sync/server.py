"""Every socket of one deployment, each as sessions see it: text in, text out, one error when the client is gone."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.websockets import WebSocket, WebSocketDisconnect

from convex_evals.backend.identity import Authenticator
from convex_evals.backend.sync.calls import Background
from convex_evals.backend.sync.errors import BrokenInvariant, Disconnected
from convex_evals.backend.sync.outbox import SessionSettings, Socket
from convex_evals.backend.sync.session import Functions, History, Session

if TYPE_CHECKING:
    from convex_evals.backend.database import Commit


class SyncServer:
    """Wakes exactly the sessions whose queries a commit touches."""

    def __init__(self, functions: Functions, history: History, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        self._functions = functions
        self._history = history
        self._background = Background()
        self._sessions: dict[Session, asyncio.Task[None]] = {}
        self._stopping = False
        self._unsubscribe = history.on_commit(self._on_commit)

    async def serve(self, socket: Socket, settings: SessionSettings, authenticator: Authenticator) -> None:
        """Returns when the socket is closed. `authenticator` decides who its client can be."""
        settings = replace(settings, now_ns=self._now_ns)
        session = Session(socket, self._functions, self._history, authenticator, self._background, settings)
        running = asyncio.create_task(session.run())
        self._sessions[session] = running
        if self._stopping:
            session.stop()
        try:
            await running
        finally:
            del self._sessions[session]

    def on_new_code(self) -> None:
        """A push was finished: every result may be different now."""
        for session in list(self._sessions):
            session.on_new_code()

    def _on_commit(self, commit: "Commit") -> None:
        for session in list(self._sessions):
            session.on_commit(commit)

    def disconnect(self) -> None:
        """Closes every socket; clients come back by themselves."""
        for session in list(self._sessions):
            session.stop()

    async def stop(self) -> None:
        """Closes every socket (clients come back by themselves) and abandons the calls in flight."""
        if self._stopping:
            return
        self._stopping = True
        self._unsubscribe()
        running = list(self._sessions.values())
        for session in list(self._sessions):
            session.stop()
        await asyncio.gather(*running, return_exceptions=True)
        await self._background.stop()


class AcceptedSocket:
    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self.ip = websocket.client.host if websocket.client else None
        self.user_agent = websocket.headers.get("user-agent")

    async def receive(self) -> str:
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise Disconnected
        text = message.get("text")
        if not isinstance(text, str):
            raise BrokenInvariant("a binary frame is not a message of the sync protocol")
        return text

    async def send(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def close(self, code: int | None, reason: str) -> None:
        await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _send(self, message: dict[str, object]) -> None:
        try:
            await self._websocket.send(message)
        except (WebSocketDisconnect, RuntimeError) as error:  # starlette's answer to sending after the end
            raise Disconnected from error
