"""How a socket is closed: what the client is told, and the close frame's code and reason."""

from dataclasses import dataclass

from convex_evals.backend.errors import RequestError
from convex_evals.backend.sync.errors import (
    AuthenticationLost,
    Disconnected,
    InvalidMessage,
    Overloaded,
    ProtocolViolation,
    ServerStopping,
)
from convex_evals.backend.sync.server_messages import AuthError, FatalError, ServerMessage

NORMAL = 1000
GOING_AWAY = 1001
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013

LONGEST_REASON = 123


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
