"""HTTP over connections that a network policy opens."""

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

from convex_evals.backend.runtime import NetworkPolicy

LOCALHOST = "127.0.0.1"


def policy_transport(network: NetworkPolicy, *, verify: bool) -> httpx2.AsyncBaseTransport:
    transport = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False)
    context = ssl.create_default_context() if verify else None
    transport._pool = httpcore2.AsyncConnectionPool(ssl_context=context, network_backend=_PolicyBackend(network))
    return transport


class _PolicyBackend(httpcore2.AsyncNetworkBackend):
    def __init__(self, network: NetworkPolicy) -> None:
        self._network = network

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            opened = await self._network.connect(LOCALHOST if host == "localhost" else host, port)
        except OSError as error:
            raise httpcore2.ConnectError("All connection attempts failed") from error
        if opened is None:
            raise httpcore2.ConnectError(f"this deployment may not connect to port {port} of {host}")
        return _Stream(*await asyncio.open_connection(sock=opened))


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return await self._reader.read(max_bytes)
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._writer.write(buffer)
        try:
            await self._writer.drain()
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from error

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        try:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        return self

    def get_extra_info(self, info: str) -> Any:
        return None
