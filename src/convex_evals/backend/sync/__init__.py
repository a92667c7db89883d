"""The WebSocket clients subscribe over: sessions, versions, transitions.

To serve other functions than a deployment's, write another session from the same parts.
"""

from convex_evals.backend.functions import CallFailure, QueryOutcome
from convex_evals.backend.identity import ADMIN, ANONYMOUS
from convex_evals.backend.sync.client_messages import (
    AddQuery,
    AdminToken,
    Authenticate,
    CallRequest,
    ClientMessage,
    Connect,
    Event,
    ModifyQuerySet,
    UserToken,
    parse,
)
from convex_evals.backend.sync.errors import (
    AuthenticationLost,
    BrokenInvariant,
    Disconnected,
    Overloaded,
    ProtocolViolation,
)
from convex_evals.backend.sync.outbox import Outbox, SessionSettings, Socket
from convex_evals.backend.sync.query_set import QuerySet, Update
from convex_evals.backend.sync.server import AcceptedSocket, SyncServer
from convex_evals.backend.sync.server_messages import ActionResponse, Failure, MutationResponse
from convex_evals.backend.sync.session import History, first_failure

__all__ = [
    "ADMIN",
    "ANONYMOUS",
    "AcceptedSocket",
    "ActionResponse",
    "AddQuery",
    "AdminToken",
    "Authenticate",
    "AuthenticationLost",
    "BrokenInvariant",
    "CallFailure",
    "CallRequest",
    "ClientMessage",
    "Connect",
    "Disconnected",
    "Event",
    "Failure",
    "History",
    "ModifyQuerySet",
    "MutationResponse",
    "Outbox",
    "Overloaded",
    "ProtocolViolation",
    "QueryOutcome",
    "QuerySet",
    "SessionSettings",
    "Socket",
    "SyncServer",
    "Update",
    "UserToken",
    "first_failure",
    "parse",
]
