"""Logging in with a token: the page that asks for it, and the cookie that stands for it."""

from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from convex_evals.web.errors import RequestRefused
from convex_evals.web.identity import LONGEST_TOKEN, SESSION, Authenticator, address_of
from convex_evals.web.pages import show
from convex_evals.web.site import current_site

SECONDS: Final = 14 * 24 * 3600

login = APIRouter(include_in_schema=False)


@login.get("/login")
def ask_for_token(request: Request, next: str = "/") -> Response:
    return login_page(request, next)


@login.post("/login")
async def log_in(
    request: Request, token: Annotated[str, Form(max_length=LONGEST_TOKEN)], next: Annotated[str, Form()] = "/"
) -> Response:
    authenticator: Authenticator = request.app.state.authenticator
    try:
        grant = await run_in_threadpool(authenticator.check_token, token.strip(), address_of(request))
    except RequestRefused as refused:
        return login_page(request, next, refused)
    secret = await run_in_threadpool(current_site(request).store.sessions.begin, grant)
    answer = RedirectResponse(local_address(next), 303)
    answer.set_cookie(SESSION, secret, SECONDS, secure=_is_https(request), httponly=True, samesite="strict")
    return answer


@login.post("/logout")
async def log_out(request: Request) -> Response:
    if secret := request.cookies.get(SESSION):
        await run_in_threadpool(current_site(request).store.sessions.end, secret)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION, secure=_is_https(request), httponly=True, samesite="strict")
    return answer


def _is_https(request: Request) -> bool:
    """A proxy in front of us may have ended TLS."""
    return request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"


def local_address(given: str) -> str:
    """A page of this server; browsers take `//host` and `/\\host` for other servers."""
    is_local = given.startswith("/") and given.isprintable() and "\\" not in given and not given.startswith("//")
    return given if is_local else "/"


def login_page(request: Request, next: str, refused: RequestRefused | None = None) -> Response:
    """Links of other sites come without the cookie, which is sent with the next click."""
    answer = show(
        request,
        "login.html",
        title=f"Log in to {current_site(request).name}",
        status=refused.status_code if refused else 200,
        navigation=(),
        next=local_address(next),
        refused=refused.detail if refused else None,
    )
    answer.headers.update(refused.headers or {} if refused else {})
    return answer
