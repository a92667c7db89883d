"""How requests are answered: JSON, or a refusal as `{"code", "message"}` with a status, or only a status."""

import logging

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.backend.errors import DeveloperError, RequestError

logger = logging.getLogger(__name__)

INTERNAL = RequestError(500, "InternalServerError", "Your request couldn't be completed. Try again later.")


def json_response(content: object) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")


def envelope(error: RequestError) -> Response:
    body = orjson.dumps({"code": error.code, "message": error.message})
    return Response(body, error.status, media_type="application/json")


async def on_request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return envelope(error)


async def on_developer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DeveloperError)
    return envelope(RequestError(400, "BadRequest", error.message))


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Unknown routes and wrong methods: the status says it all."""
    assert isinstance(error, HTTPException)
    return Response(status_code=error.status_code, headers=error.headers)


async def on_disconnect(request: Request, error: Exception) -> Response:
    """The client is gone: nobody reads the answer, and it is not our failure."""
    return Response(status_code=408)


async def on_failure(request: Request, error: Exception) -> Response:
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return envelope(INTERNAL)
