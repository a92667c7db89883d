"""What goes wrong with a request, as the API says it and as a page says it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from convex_evals.core.errors import InfrastructureError, UsageError

ErrorPage = Callable[[Request, int, str], Response]
logger = logging.getLogger(__name__)


class RequestRefused(HTTPException):
    """One sentence for whoever asked; `code` is for programs."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.code = code


class NotFound(RequestRefused):
    def __init__(self, message: str) -> None:
        super().__init__(404, "NotFound", message)


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` is for programs and stays the same; `message` is a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What the API answers to every request that it cannot fulfil."""

    error: Problem


def error_response(refused: RequestRefused) -> Response:
    body = msgspec.json.encode(ErrorBody(Problem(refused.code, refused.detail)))
    return Response(body, refused.status_code, refused.headers, media_type="application/json")


class Errors:
    """Innermost, so that error responses pass through all other middleware."""

    def __init__(self, app: ASGIApp, page: ErrorPage) -> None:
        self._app, self._page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as error:
            if started or scope["type"] != "http":
                raise
            await self._answer(Request(scope), error)(scope, receive, send)

    def _answer(self, request: Request, error: Exception) -> Response:
        refused = refusal(request.url.path, error)
        if refused.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        if wants_json(request):
            return error_response(refused)
        shown = self._page(request, refused.status_code, refused.detail)
        shown.headers.update(refused.headers or {})
        if request.url.query and "?" not in shown.headers.get("location", "?"):
            shown.headers["location"] += f"?{request.url.query}"  # the tab, file or filter that was asked for
        return shown


def pass_errors_on(app: FastAPI) -> None:
    """FastAPI answers some errors itself, each in a shape of its own."""
    for kind in (HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _raise)


async def _raise(request: Request, error: Exception) -> Response:
    raise error


def wants_json(request: Request) -> bool:
    return request.url.path.startswith("/api/") or request.headers.get("accept", "").startswith("application/json")


def refusal(path: str, error: Exception) -> RequestRefused:
    match error:
        case RequestRefused():
            return error
        case RequestValidationError():
            return RequestRefused(422, "InvalidRequest", _invalid(error))
        case HTTPException(status_code=400):
            return RequestRefused(422, "InvalidRequest", "body: Expected JSON, but it cannot be read.")
        case HTTPException(status_code=404):
            return NotFound(f"There is nothing at {path}.")
        case HTTPException():
            code = HTTPStatus(error.status_code).phrase.title().replace(" ", "").replace("-", "")
            return RequestRefused(error.status_code, code, f"{error.detail}.", error.headers)
        case UsageError():
            return NotFound(str(error))
        case InfrastructureError():
            return RequestRefused(503, "Unavailable", "The scores cannot be read now; try again later.")
        case _:
            return RequestRefused(500, "Failure", "This server made a mistake, which is in its log; try again later.")


def _invalid(error: RequestValidationError) -> str:
    """What was given is not quoted: it may be a secret in the wrong place."""
    first = error.errors()[0]
    place = " ".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}."
