"""Frames between Python and a worker: `u32` payload length, `u8` kind, payload. See docs/runtime-protocol.md."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

_HEADER: Final = struct.Struct(">IB")
_CHANNEL: Final = struct.Struct(">I")
_JSON: Final = 0
_BYTES: Final = 1

LARGEST_FRAME: Final = 65 * 1024 * 1024  # the largest file in one piece, and room for what is said about it

Message = dict[str, Any]


class ProtocolError(Exception):
    """A worker sent what ours never send: user code has got hold of its channel. Nothing it says is believed."""


@dataclass(frozen=True, slots=True)
class BytesFrame:
    channel: int
    data: bytes


def json_frame(message: Message) -> bytes:
    payload = orjson.dumps(message)
    return _HEADER.pack(len(payload), _JSON) + payload


def bytes_frame(channel: int, data: bytes) -> bytes:
    return _HEADER.pack(_CHANNEL.size + len(data), _BYTES) + _CHANNEL.pack(channel) + data


class FrameParser:
    """Never keeps more than one frame that is not complete."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Message | BytesFrame]:
        """Raises ProtocolError."""
        self._pending += data
        start = 0
        while len(self._pending) - start >= _HEADER.size:
            length, kind = _HEADER.unpack_from(self._pending, start)
            if length > LARGEST_FRAME:
                raise ProtocolError(f"a frame of {length} bytes, where {LARGEST_FRAME} is the limit")
            end = start + _HEADER.size + length
            if len(self._pending) < end:
                break
            payload = bytes(self._pending[start + _HEADER.size : end])
            start = end
            yield _parse(kind, payload)
        del self._pending[:start]


def _parse(kind: int, payload: bytes) -> Message | BytesFrame:
    if kind == _BYTES and len(payload) >= _CHANNEL.size:
        (channel,) = _CHANNEL.unpack_from(payload)
        return BytesFrame(channel, payload[_CHANNEL.size :])
    if kind != _JSON:
        raise ProtocolError(f"a frame of kind {kind} with {len(payload)} bytes")
    try:
        message = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise ProtocolError(f"a message that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message that is not an object")
    return message
