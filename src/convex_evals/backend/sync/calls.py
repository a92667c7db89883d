"""Calls that clients ask for: from a message to a call, from its outcome to a response, and those in flight."""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions import Call, CallFailure, CallOutcome, MutationOutcome, QueryOutcome
from convex_evals.backend.identity import Identity
from convex_evals.backend.sync.client_messages import AddQuery, CallRequest
from convex_evals.backend.sync.outbox import Socket
from convex_evals.backend.sync.server_messages import ActionResponse, Failure, MutationResponse

BAD_REQUEST = 400

Result = TypeVar("Result")
logger = logging.getLogger(__name__)


def query_call(request: AddQuery, identity: Identity) -> Call:
    path = FunctionPath.parse(request.udf_path, request.component)
    return Call(path, request.args, identity, "SyncWorker", secrets.token_hex(8))


def function_call(request: CallRequest, identity: Identity, session_id: str, socket: Socket) -> Call:
    path = FunctionPath.parse(request.udf_path, request.component)
    request_id = request_id_of(session_id, request.request_id)
    return Call(path, request.args, identity, "SyncWorker", request_id, ip=socket.ip, user_agent=socket.user_agent)


def request_id_of(session_id: str, request_id: int) -> str:
    return hashlib.sha256(f"{session_id}|{request_id}".encode()).hexdigest()[:16]


async def query_outcome(call: Call, running: Awaitable[QueryOutcome]) -> QueryOutcome:
    try:
        return await running
    except RequestError as error:
        return QueryOutcome(None, _refused(error), call.request_id)


async def mutation_outcome(call: Call, running: Awaitable[MutationOutcome]) -> MutationOutcome:
    try:
        return await running
    except RequestError as error:
        return MutationOutcome(None, _refused(error), call.request_id)


async def action_outcome(call: Call, running: Awaitable[CallOutcome]) -> CallOutcome:
    try:
        return await running
    except RequestError as error:
        return CallOutcome(None, _refused(error), call.request_id)


def _refused(error: RequestError) -> CallFailure:
    """A path that names no function, say, fails the call that used it; other refusals concern the whole socket."""
    if error.status != BAD_REQUEST:
        raise error
    return CallFailure(error.message)


def mutation_response(request_id: int, outcome: MutationOutcome) -> MutationResponse:
    return MutationResponse(request_id, _result(outcome), outcome.log_texts, outcome.ts if outcome.succeeded else None)


def action_response(request_id: int, outcome: CallOutcome) -> ActionResponse:
    return ActionResponse(request_id, _result(outcome), outcome.log_texts)


def _result(outcome: CallOutcome) -> str | Failure:
    if outcome.failure is None:
        return outcome.value or "null"
    return Failure(outcome.failure.text(outcome.request_id), outcome.failure.data)


class Background:
    """Mutations and actions in flight. They end by themselves, or with the deployment."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.debug("a call ended with an error", exc_info=task.exception())

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
