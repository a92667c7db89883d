import pytest

from convex_evals.backend.errors import Conflict, RequestError, SystemFailure
from convex_evals.backend.sync.errors import (
    INTERNAL,
    AuthenticationLost,
    BrokenInvariant,
    Disconnected,
    Ending,
    InvalidMessage,
    Overloaded,
    ProtocolViolation,
    ServerStopping,
    ending_of,
)
from convex_evals.backend.sync.server_messages import AuthError, FatalError

CASES: list[tuple[BaseException, Ending | None]] = [
    (Disconnected(), None),
    (ServerStopping(), Ending(1001)),
    (InvalidMessage("x"), Ending(message=FatalError("Received Invalid JSON on websocket: x"))),
    (ProtocolViolation("x"), Ending(message=FatalError("x"))),
    (AuthenticationLost("x", update_attempted=True), Ending(message=AuthError("x", 7, update_attempted=True))),
    (Overloaded("TooManyConcurrentMutations"), Ending(1013, "TooManyConcurrentMutations")),
    (BrokenInvariant("x"), INTERNAL),
    (SystemFailure("x"), INTERNAL),
    (Conflict("messages"), INTERNAL),
    (RuntimeError("x"), INTERNAL),
    (RequestError(400, "Code", "x"), Ending(message=FatalError("x"))),
    (RequestError(409, "Code", "x"), Ending(message=FatalError("x"))),
    (RequestError(401, "Code", "x"), Ending(message=AuthError("x", 7, update_attempted=False))),
    (RequestError(403, "Code", "x"), Ending(1000, "Code", FatalError("x"))),
    (RequestError(404, "Code", "x"), Ending(1000, "Code")),
    (RequestError(408, "Code", "x"), Ending(1000, "Code")),
    (RequestError(429, "Code", "x"), Ending(1013, "Code")),
    (RequestError(503, "C" * 200, "x"), Ending(1013, "C" * 123)),
    (RequestError(500, "Code", "x"), INTERNAL),
]


@pytest.mark.parametrize(("error", "ending"), CASES)
def test_every_error_has_its_way_of_closing_the_socket(error: BaseException, ending: Ending | None) -> None:
    assert ending_of(error, identity_version=7) == ending
