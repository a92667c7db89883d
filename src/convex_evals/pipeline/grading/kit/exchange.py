"""One HTTP request and its response, within a deadline and a size: whoever answers may be hostile."""

import http.client
import io
import socket
import time
from typing import Any, Final
from urllib.parse import urlsplit

from convex_evals.pipeline.grading.kit.responses import Headers, Response

LARGEST_BODY: Final = 32 * 1024 * 1024
_CHUNK: Final = 1 << 16


class TooLarge(Exception):
    pass


def exchange(method: str, url: str, body: bytes, headers: Headers, seconds: float) -> Response:
    """Redirects are responses like any other. Raises TimeoutError when all of it took longer than `seconds`, TooLarge,
    OSError when nobody answers, and HTTPException, ValueError when the response is not HTTP."""
    parts = urlsplit(url)
    kind = _TimedTls if parts.scheme == "https" else _Timed
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    connection.response_class = _until(time.monotonic() + seconds)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, body or None, {"Connection": "close", **headers})
        response = connection.getresponse()
        return Response(response.status, response.headers, _read(response))
    finally:
        connection.close()


class _Timed(http.client.HTTPConnection):
    response_class: Any


class _TimedTls(http.client.HTTPSConnection):
    response_class: Any


def _until(deadline: float) -> Any:
    """The time-out of a socket starts anew with every byte, so a response that trickles would never end."""

    class TimedResponse(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
            super().__init__(sock, *args, **options)
            self.fp = io.BufferedReader(_Stream(sock, self.fp, deadline), _CHUNK)

    return TimedResponse


class _Stream(io.RawIOBase):
    def __init__(self, sock: socket.socket, file: io.BufferedIOBase, deadline: float) -> None:
        self._socket, self._file, self._deadline = sock, file, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._socket.settimeout(remaining)
        return self._socket.recv_into(buffer)

    def close(self) -> None:
        super().close()
        self._file.close()


def _read(response: http.client.HTTPResponse) -> bytes:
    parts = bytearray()
    while chunk := response.read(_CHUNK):
        parts += chunk
        if len(parts) > LARGEST_BODY:
            raise TooLarge
    if response.length:
        raise http.client.IncompleteRead(bytes(parts), response.length)
    return bytes(parts)
