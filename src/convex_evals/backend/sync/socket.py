"""A WebSocket as sessions see it: text in, text out, and one error when the client is gone."""

from starlette.websockets import WebSocket, WebSocketDisconnect

from convex_evals.backend.sync.errors import BrokenInvariant, Disconnected


class AcceptedSocket:
    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> str:
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise Disconnected
        text = message.get("text")
        if not isinstance(text, str):
            raise BrokenInvariant("a binary frame is no message of the sync protocol")
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
