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

Message = dict[str, Any]


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
    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Message | BytesFrame]:
        self._pending += data
        start = 0
        while len(self._pending) - start >= _HEADER.size:
            length, kind = _HEADER.unpack_from(self._pending, start)
            end = start + _HEADER.size + length
            if len(self._pending) < end:
                break
            payload = bytes(self._pending[start + _HEADER.size : end])
            start = end
            yield _bytes(payload) if kind == _BYTES else orjson.loads(payload)
        del self._pending[:start]


def _bytes(payload: bytes) -> BytesFrame:
    (channel,) = _CHANNEL.unpack_from(payload)
    return BytesFrame(channel, payload[_CHANNEL.size :])
