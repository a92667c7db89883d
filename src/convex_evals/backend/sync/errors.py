"""How a socket ends: errors, and what the client is told before the close frame. One tree, drawn once:

SyncError
├── InvalidMessage        the client sent something that is not a message of the protocol
├── ProtocolViolation     a well-formed message at the wrong moment; reported to the client before closing
├── AuthenticationLost    a token was refused, or the identity in force expired
├── Overloaded            the client asks for more at once than one socket may
├── BrokenInvariant       the client contradicts itself: closed like a failure of our own
├── ServerStopping        this deployment shuts down
└── Disconnected          the client is gone
"""

from dataclasses import dataclass

from convex_evals.backend.errors import BackendError, RequestError
from convex_evals.backend.sync.server_messages import AuthError, FatalError, ServerMessage

NORMAL = 1000
GOING_AWAY = 1001
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013
LONGEST_REASON = 123


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


@dataclass(frozen=True, slots=True)
class Ending:
    """`code` None is a close frame without status, which clients report as 1005."""

    code: int | None = None
    reason: str = ""
    message: ServerMessage | None = None


INTERNAL = Ending(INTERNAL_ERROR, "InternalServerError")


def ending_of(error: BaseException, identity_version: int) -> Ending | None:
    """None when the client is gone already. `identity_version` is that of the last Transition."""
    match error:
        case Disconnected():
            return None
        case ServerStopping():
            return Ending(GOING_AWAY)
        case InvalidMessage() | ProtocolViolation():
            return Ending(message=FatalError(str(error)))
        case AuthenticationLost():
            return Ending(message=AuthError(error.message, identity_version, error.update_attempted))
        case Overloaded():
            return Ending(TRY_AGAIN_LATER, error.code)
        case RequestError():
            return _of_refusal(error, identity_version)
        case _:
            return INTERNAL


def _of_refusal(error: RequestError, identity_version: int) -> Ending:
    reason = error.code[:LONGEST_REASON]
    match error.status:
        case 400 | 409:
            return Ending(message=FatalError(error.message))
        case 401:
            return Ending(message=AuthError(error.message, identity_version, update_attempted=False))
        case 403:
            return Ending(NORMAL, reason, FatalError(error.message))
        case 404 | 408:
            return Ending(NORMAL, reason)
        case 429 | 502 | 503 | 504:
            return Ending(TRY_AGAIN_LATER, reason)
        case _:
            return INTERNAL
