"""Reading the function log by long polling."""

import hashlib

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.client_version import client_of, reads_structured_logs
from convex_evals.backend.http.identities import identify_admin
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.logs import Completion, FunctionLog

LONGEST_POLL_SECONDS = 60.0


class FunctionLogs:
    def __init__(self, log: FunctionLog, authenticator: Authenticator) -> None:
        self._log = log
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/stream_function_logs", self._stream_function_logs),
            Route("/api/stream_udf_execution", self._stream_udf_execution),
        ]

    async def _stream_function_logs(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        structured = reads_structured_logs(client_of(request))
        page = await self._log.wait_after(_cursor(request), LONGEST_POLL_SECONDS)
        wanted = _request_id(request)
        entries = [entry for entry in page.entries if wanted in (None, entry.request_id)]
        return _json({"entries": [entry.to_json(structured) for entry in entries], "newCursor": page.cursor})

    async def _stream_udf_execution(self, request: Request) -> Response:
        """Only ends of executions, with their lines as strings."""
        await identify_admin(self._authenticator, request)
        page = await self._log.wait_after(_cursor(request), LONGEST_POLL_SECONDS)
        ends = [entry.to_json(structured=False) for entry in page.entries if isinstance(entry, Completion)]
        return _json({"entries": ends, "newCursor": page.cursor})


def _cursor(request: Request) -> float:
    text = request.query_params.get("cursor")
    try:
        if text is None:
            raise ValueError("missing field `cursor`")
        return float(text)
    except ValueError as error:
        raise RequestError(400, "BadQueryArgs", f"Failed to deserialize query string: {error}") from error


def _request_id(request: Request) -> str | None:
    """A socket's client may ask for the entries of one of its requests."""
    session, counter = request.query_params.get("sessionId"), request.query_params.get("clientRequestCounter")
    if session is None or counter is None:
        return None
    return hashlib.sha256(f"{session}|{counter}".encode()).hexdigest()[:16]


def _json(content: object) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")
