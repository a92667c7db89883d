"""Pages for what goes wrong: an unknown address says what was looked for, a moved one leads on."""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from convex_evals.core.text import shortened
from convex_evals.web.errors import NotFound, RequestRefused
from convex_evals.web.pages.addresses import as_it_is, links_of
from convex_evals.web.pages.frame import Crumb, page, show

router = APIRouter()
NOT_PUBLISHED: Final = "/not-published"


class Moved(RequestRefused):
    """It has another address, where the client is sent."""

    def __init__(self, address: str) -> None:
        super().__init__(308, "Moved", f"This is at {address} now.", {"location": address})


@page(router, NOT_PUBLISHED, twins=False)
def not_published(request: Request) -> Response:
    """Where links of a publication lead to what it does not have. A server has everything."""
    if links_of(request) is as_it_is:
        raise NotFound("There is no such page.")
    crumbs = (Crumb("home", "/"), Crumb("not published"))
    return show(request, "not_published.html", title="Not published", crumbs=crumbs)


def error_page(request: Request, status: int, message: str) -> Response:
    title = HTTPStatus(status).phrase.capitalize()
    crumbs = (Crumb("home", "/"), Crumb(title.lower()))
    wanted = shortened(request.url.path.rstrip("/").rpartition("/")[2], 60)
    return show(
        request, "error.html", title=title, crumbs=crumbs, status=status, message=message, wanted=wanted, code=status
    )
