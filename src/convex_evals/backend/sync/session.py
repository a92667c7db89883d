"""One socket: messages in, responses and transitions out; and what a session needs from its deployment."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions import Call, CallOutcome, MutationOutcome, QueryOutcome, SessionRequest
from convex_evals.backend.identity import ANONYMOUS, Authenticator, Identity, user_of
from convex_evals.backend.sync.calls import (
    Background,
    action_outcome,
    action_response,
    function_call,
    mutation_outcome,
    mutation_response,
    query_call,
    query_outcome,
)
from convex_evals.backend.sync.client_messages import (
    AdminToken,
    Authenticate,
    CallRequest,
    ClientMessage,
    Connect,
    Credential,
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
    ServerStopping,
)
from convex_evals.backend.sync.outbox import Outbox, SessionSettings, Socket
from convex_evals.backend.sync.query_set import LiveQuery, QuerySet, Update

if TYPE_CHECKING:
    from convex_evals.backend.database import Commit, Database, ReadSet

MOST_CALLS_IN_FLIGHT = 1000
QUERIES_AT_ONCE = 20
REJECTIONS = range(400, 500)
RATE_LIMITED = 429


class Functions(Protocol):
    async def query(self, call: Call, *, at: int | None = None, journal: str | None = None) -> QueryOutcome: ...

    async def mutation(self, call: Call, *, session_request: SessionRequest | None = None) -> MutationOutcome: ...

    async def action(self, call: Call) -> CallOutcome: ...


class History:
    """The database as subscriptions see it."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    @property
    def latest(self) -> int:
        return self._database.latest

    def changed_since(self, read_set: "ReadSet", ts: int) -> bool:
        return self._database.changed_since(read_set, ts)

    def on_commit(self, callback: "Callable[[Commit], None]") -> Callable[[], None]:
        """Returns a function that removes the callback."""
        return self._database.on_commit(callback)

    def requests_of(self, session_id: str) -> "ReadSet":
        """Touched by the commits of this session's mutations."""
        transaction = self._database.begin()
        transaction.system.scan("", "_session_requests", "by_session", (session_id,))
        return transaction.read_set


@dataclass(frozen=True, slots=True)
class QueuedMutation:
    request_id: int
    call: Call


class Session:
    """Four loops share one socket: receiving, running mutations one by one, bringing the client up to date, pinging.
    The first one to fail ends the session; `run` then closes the socket accordingly."""

    def __init__(
        self,
        socket: Socket,
        functions: Functions,
        history: History,
        authenticator: Authenticator,
        background: Background,
        settings: SessionSettings,
    ) -> None:
        self._socket = socket
        self._functions = functions
        self._history = history
        self._authenticator = authenticator
        self._background = background
        self._settings = settings
        self._outbox = Outbox(socket, settings)
        self._connected: Connect | None = None
        self._clock_skew: int | None = None
        self._queries = QuerySet()
        self._mutations: asyncio.Queue[QueuedMutation] = asyncio.Queue(MOST_CALLS_IN_FLIGHT)
        self._own_requests: ReadSet | None = None
        self._answered = asyncio.Event()  # cleared while a mutation is committed that the client does not know of
        self._answered.set()
        self._mutating = False
        self._actions = 0
        self._update_wanted = asyncio.Event()
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Serves the socket until either side closes it."""
        error = await first_failure(
            self._receive(),
            self._run_mutations(),
            self._keep_up_to_date(),
            self._outbox.ping_forever(),
            self._until_ended(),
        )
        await self._outbox.close(error, self._queries.version.identity)

    def end(self, error: BaseException) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)

    def stop(self) -> None:
        self.end(ServerStopping())

    def on_commit(self, commit: "Commit") -> None:
        if self._mutating and self._own_requests is not None and commit.touches(self._own_requests):
            self._answered.clear()
        if self._queries.invalidate(commit):
            self._update_wanted.set()

    def on_new_code(self) -> None:
        self._queries.invalidate_all()
        self._update_wanted.set()

    async def _until_ended(self) -> None:
        await self._ended

    # Receiving

    async def _receive(self) -> None:
        while True:
            await self._handle(parse(await self._socket.receive()))

    async def _handle(self, message: ClientMessage) -> None:
        if self._connected is None and not isinstance(message, Connect):
            raise ProtocolViolation(f"Received {type(message).__name__} before Connect")
        match message:
            case Connect():
                self._connect(message)
            case ModifyQuerySet():
                self._queries.modify(message)
                self._update_wanted.set()
            case Authenticate():
                await self._authenticate(message)
            case CallRequest(kind="Mutation"):
                self._enqueue_mutation(message)
            case CallRequest():
                self._start_action(message)
            case Event():
                pass

    def _connect(self, message: Connect) -> None:
        if message.max_observed_ts is not None and message.max_observed_ts > self._history.latest:
            raise BrokenInvariant("the client has seen a newer database than this one")
        self._connected = message
        self._own_requests = self._history.requests_of(message.session_id)
        if message.client_ts is not None:
            self._clock_skew = message.client_ts - self._settings.now_ns() // 1_000_000

    async def _authenticate(self, message: Authenticate) -> None:
        try:
            identity = await self._identity_of(message.credential)
        except RequestError as error:
            if error.status in REJECTIONS and error.status != RATE_LIMITED:
                raise AuthenticationLost(error.message, update_attempted=True) from error
            raise Overloaded(error.code) from error
        self._queries.authenticate(message.base_version, identity)
        self._update_wanted.set()

    async def _identity_of(self, credential: Credential) -> Identity:
        match credential:
            case UserToken(token):
                return await self._authenticator.user(token)
            case AdminToken(key, acting_as):
                return self._authenticator.admin(key, acting_as)
            case None:
                return ANONYMOUS

    def _call_of(self, request: CallRequest) -> Call:
        assert self._connected is not None
        self._check_expiry()
        return function_call(request, self._queries.identity, self._connected.session_id, self._socket)

    def _check_expiry(self) -> None:
        user = user_of(self._queries.identity)
        if user is not None and user.expires_at is not None and user.expires_at <= time.time():
            raise AuthenticationLost("Convex token identity expired", update_attempted=False)

    # Mutations: one at a time, in the order they came

    def _enqueue_mutation(self, request: CallRequest) -> None:
        try:
            self._mutations.put_nowait(QueuedMutation(request.request_id, self._call_of(request)))
        except asyncio.QueueFull as error:
            raise Overloaded("TooManyConcurrentMutations") from error

    async def _run_mutations(self) -> None:
        while True:
            queued = await self._mutations.get()
            assert self._connected is not None
            key = SessionRequest(self._connected.session_id, queued.request_id)
            self._mutating = True
            running = self._background.start(self._functions.mutation(queued.call, session_request=key))
            outcome = await mutation_outcome(queued.call, asyncio.shield(running))
            await self._outbox.send(mutation_response(queued.request_id, outcome))
            self._mutating = False
            self._answered.set()
            self._update_wanted.set()

    # Actions: side by side, answered as they finish

    def _start_action(self, request: CallRequest) -> None:
        if self._actions >= MOST_CALLS_IN_FLIGHT:
            raise Overloaded("TooManyConcurrentActions")
        call = self._call_of(request)
        self._actions += 1
        self._background.start(self._run_action(request.request_id, call))

    async def _run_action(self, request_id: int, call: Call) -> None:
        try:
            outcome = await action_outcome(call, self._functions.action(call))
            await self._outbox.send(action_response(request_id, outcome))
            self._update_wanted.set()
        except Exception as error:
            self.end(error)
        finally:
            self._actions -= 1

    # Transitions

    async def _keep_up_to_date(self) -> None:
        while True:
            await self._update_wanted.wait()
            while not self._answered.is_set():  # the response comes before the transition that shows its effect
                await self._answered.wait()
            self._update_wanted.clear()
            await self._update()

    async def _update(self) -> None:
        self._check_expiry()
        update = self._queries.begin(self._history.latest)
        outcomes = await self._run_queries(update)
        transition = self._queries.finish(update, outcomes, self._history.changed_since)
        if self._queries.is_stale:
            self._update_wanted.set()
        await self._outbox.send(
            replace(transition, client_clock_skew=self._clock_skew, server_ts=self._settings.now_ns())
        )

    async def _run_queries(self, update: Update) -> dict[int, QueryOutcome]:
        turns = asyncio.Semaphore(QUERIES_AT_ONCE)

        async def run(query: LiveQuery) -> QueryOutcome:
            async with turns:
                call = query_call(query.request, update.identity)
                return await query_outcome(call, self._functions.query(call, at=update.end.ts, journal=query.journal))

        async with asyncio.TaskGroup() as group:
            tasks = {query.request.query_id: group.create_task(run(query)) for query in update.to_run}
        return {query_id: task.result() for query_id, task in tasks.items()}


async def first_failure(*loops: Coroutine[Any, Any, None]) -> BaseException:
    """Runs loops that share one socket. The first one to fail ends the others."""
    error: BaseException = Disconnected()
    try:
        async with asyncio.TaskGroup() as group:
            for loop in loops:
                group.create_task(loop)
    except* Exception as failures:
        error = _first(failures)
    return error


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
