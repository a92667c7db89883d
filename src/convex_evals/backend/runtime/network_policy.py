"""Who decides where functions may connect to."""

import asyncio
import ipaddress
import socket
from enum import Enum
from typing import Protocol


class NetworkPolicy(Protocol):
    """Asked for every connection that a function wants to open, except those to its own deployment."""

    async def connect(self, host: str, port: int) -> socket.socket | None:
        """A connected socket, non-blocking, which becomes the caller's; None when the function may not connect there.
        `host` is an IP address, one of this machine's loopback unless the policy is `Network.INTERNET`. Raises OSError
        when it may, but nothing answers."""


class Network(Enum):
    """The policies that need to know nothing else. With NONE not even the own deployment can be reached."""

    NONE = "none"
    LOOPBACK = "loopback"
    INTERNET = "internet"

    async def connect(self, host: str, port: int) -> socket.socket | None:
        if self is Network.NONE or (self is Network.LOOPBACK and not is_loopback(host)):
            return None
        return await open_socket(host, port)


async def open_socket(host: str, port: int) -> socket.socket:
    """A connection of this process. `host` is an IP address, so nobody is asked for a name."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK, socket.IPPROTO_TCP)
    try:
        await asyncio.get_running_loop().sock_connect(opened, (host, port))
    except BaseException:
        opened.close()
        raise
    return opened


def plain_address(host: str) -> str | None:
    """An IP address as it is usually written, without a zone, that of IPv4 in IPv6 as IPv4. None for a name."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def is_loopback(host: str) -> bool:
    """Of an IP address; names are never resolved to find out."""
    address = plain_address(host)
    return address is not None and ipaddress.ip_address(address).is_loopback
