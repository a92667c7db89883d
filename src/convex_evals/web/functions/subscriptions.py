"""Queries that are kept up to date over Convex's sync protocol: looked at once a second, told when they changed.

The protocol's messages and versions are the backend's. Others may change the scores without telling us, so that there
is nothing to wait for but the clock. Tokens are checked at every look, as they are at every request.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

import msgspec
from fastapi import WebSocket
from starlette.concurrency import run_in_threadpool

from convex_evals.backend.sync import (
    ADMIN,
    ANONYMOUS,
    AcceptedSocket,
    ActionResponse,
    AddQuery,
    AdminToken,
    Authenticate,
    AuthenticationLost,
    CallFailure,
    CallRequest,
    ClientMessage,
    Connect,
    Event,
    Failure,
    ModifyQuerySet,
    MutationResponse,
    Outbox,
    Overloaded,
    ProtocolViolation,
    QueryOutcome,
    QuerySet,
    SessionSettings,
    Update,
    UserToken,
    first_failure,
    parse,
)
from convex_evals.core.errors import ConvexEvalsError, InfrastructureError
from convex_evals.web.errors import RequestRefused
from convex_evals.web.functions.calls import Call, Caller, FunctionFailed

SECONDS: Final = 1.0
MOST_QUERIES: Final = 50
"""Of one socket."""
MOST_SOCKETS: Final = 200
TOO_MANY: Final = "TooManyConcurrentRequests"  # clients wait before they come back
TOO_MANY_STATUS: Final = 429
ONLY_QUERIES: Final = "Expected a query; call mutations and actions over HTTP, as `npx convex run` does."

_open: set["Subscriptions"] = set()


async def serve_socket(websocket: WebSocket, caller: Caller) -> None:
    """Returns when the socket is closed."""
    await websocket.accept()
    session = Subscriptions(AcceptedSocket(websocket), caller)
    if len(_open) >= MOST_SOCKETS:
        return await session.refuse(Overloaded(TOO_MANY))
    _open.add(session)
    try:
        await session.run()
    finally:
        _open.remove(session)


class Subscriptions:
    """Of one socket, whose client is anonymous until it sends a token."""

    def __init__(self, socket: AcceptedSocket, caller: Caller) -> None:
        self._socket, self._caller = socket, caller
        self._outbox = Outbox(socket, SessionSettings())
        self._queries = QuerySet()
        self._token: str | None = None
        self._connected = False
        self._clock_skew: int | None = None
        self._asked = asyncio.Event()

    async def run(self) -> None:
        error = await first_failure(self._receive(), self._keep_up_to_date(), self._outbox.ping_forever())
        await self.refuse(error)

    async def refuse(self, error: BaseException) -> None:
        await self._outbox.close(error, self._queries.version.identity)

    async def _receive(self) -> None:
        while True:
            await self._handle(parse(await self._socket.receive()))

    async def _handle(self, message: ClientMessage) -> None:
        if not self._connected and not isinstance(message, Connect):
            raise ProtocolViolation(f"Received {type(message).__name__} before Connect")
        match message:
            case Connect(client_ts=client_ts):
                self._connected = True
                self._clock_skew = None if client_ts is None else client_ts - time.time_ns() // 1_000_000
            case ModifyQuerySet():
                self._modify(message)
            case Authenticate():
                self._authenticate(message)
            case CallRequest(kind, request_id):
                response = MutationResponse if kind == "Mutation" else ActionResponse
                await self._outbox.send(response(request_id, Failure(ONLY_QUERIES), []))
                self._asked.set()
            case Event():
                pass

    def _modify(self, message: ModifyQuerySet) -> None:
        self._queries.modify(message)
        if self._queries.subscriptions > MOST_QUERIES:
            raise Overloaded(TOO_MANY)
        self._asked.set()

    def _authenticate(self, message: Authenticate) -> None:
        """The token is checked before the next answer."""
        match message.credential:
            case AdminToken(token) | UserToken(token):
                self._token = token
            case None:
                self._token = None
        self._queries.authenticate(message.base_version, ANONYMOUS if self._token is None else ADMIN)
        self._asked.set()

    async def _keep_up_to_date(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), SECONDS)
            if self._asked.is_set() or self._queries.subscriptions:
                await self._update()

    async def _update(self) -> None:
        asked = self._asked.is_set()
        self._asked.clear()
        self._queries.invalidate_all()
        update = self._queries.begin(time.time_ns())
        outcomes = await run_in_threadpool(self._answer, update, self._token)
        transition = self._queries.finish(update, outcomes, lambda *_: False)
        if asked or transition.modifications:
            told = replace(transition, client_clock_skew=self._clock_skew, server_ts=time.time_ns())
            await self._outbox.send(told)
        else:
            self._queries.version = transition.start  # the client is not told, and stays where it is

    def _answer(self, update: Update, token: str | None) -> Mapping[int, QueryOutcome]:
        try:
            caller = self._caller if token is None else self._caller.with_token(token)
            return {each.request.query_id: _outcome(caller, each.request) for each in update.to_run}
        except RequestRefused as refused:
            if refused.status_code == TOO_MANY_STATUS:
                raise Overloaded(TOO_MANY) from refused
            is_new = update.end.identity > self._queries.version.identity
            raise AuthenticationLost(refused.detail, update_attempted=is_new) from refused
        except InfrastructureError as error:
            raise Overloaded("Unavailable") from error


def _outcome(caller: Caller, query: AddQuery) -> QueryOutcome:
    request_id = secrets.token_hex(8)
    try:
        value = caller.call(Call(query.udf_path, query.args, query.component), "Query")
    except InfrastructureError:
        raise
    except RequestRefused as refused:
        if refused.status_code == TOO_MANY_STATUS:
            raise
        return QueryOutcome(None, CallFailure(f"{refused.code}: {refused.detail}"), request_id)
    except (FunctionFailed, ConvexEvalsError) as error:
        return QueryOutcome(None, CallFailure(str(error)), request_id)
    return QueryOutcome(msgspec.json.encode(value).decode(), None, request_id)
