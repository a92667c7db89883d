"""How a socket ends. One tree, drawn once:

SyncError
├── InvalidMessage        the client sent something that is not a message of the protocol
├── ProtocolViolation     a well-formed message at the wrong moment; said to the client before closing
├── AuthenticationLost    a token was refused, or the identity in force expired
├── Overloaded            the client asks for more at once than one socket may
├── BrokenInvariant       the client contradicts itself: closed like a failure of our own
├── ServerStopping        this deployment shuts down
└── Disconnected          the client is gone; nobody is left to tell
"""

from convex_evals.backend.errors import BackendError


class SyncError(BackendError):
    pass


class InvalidMessage(SyncError):
    def __init__(self, detail: str) -> None:
        super().__init__(f"Received Invalid JSON on websocket: {detail}")


class ProtocolViolation(SyncError):
    pass


class AuthenticationLost(SyncError):
    def __init__(self, message: str, update_attempted: bool) -> None:
        super().__init__(message)
        self.message = message
        self.update_attempted = update_attempted


class Overloaded(SyncError):
    """`code` becomes the close reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class BrokenInvariant(SyncError):
    pass


class ServerStopping(SyncError):
    pass


class Disconnected(SyncError):
    pass
