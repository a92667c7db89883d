"""Who decides where functions may connect to."""

import socket
from typing import Protocol


class NetworkPolicy(Protocol):
    """Asked for every connection that a function wants to open, except those to its own deployment."""

    async def connect(self, host: str, port: int) -> socket.socket | None:
        """A connected socket, non-blocking, which becomes the caller's; None when the function may not connect there.
        Raises OSError when it may, but nothing answers."""
