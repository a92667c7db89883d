"""From what a client asked for to a call, and from its outcome to a response."""

import hashlib
import secrets
from collections.abc import Awaitable

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import RequestError
from convex_evals.backend.functions import Call, CallFailure, CallOutcome, MutationOutcome, QueryOutcome
from convex_evals.backend.identity import Identity
from convex_evals.backend.sync.client_messages import AddQuery, CallRequest
from convex_evals.backend.sync.server_messages import ActionResponse, Failure, MutationResponse

BAD_REQUEST = 400


def query_call(request: AddQuery, identity: Identity) -> Call:
    path = FunctionPath.parse(request.udf_path, request.component)
    return Call(path, request.args, identity, "SyncWorker", secrets.token_hex(8))


def function_call(request: CallRequest, identity: Identity, session_id: str) -> Call:
    path = FunctionPath.parse(request.udf_path, request.component)
    return Call(path, request.args, identity, "SyncWorker", request_id_of(session_id, request.request_id))


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
