"""Look at it: the pages and the scores service, one ASGI application over one database."""

from typing import TYPE_CHECKING

from convex_evals.core.lazy import load_on_demand

if TYPE_CHECKING:
    from convex_evals.web.app import create_app
    from convex_evals.web.presence import announced, find_run_page
    from convex_evals.web.publication import Published, publish
    from convex_evals.web.server import Listener, is_loopback, serve_until_stopped
    from convex_evals.web.site import ReadAccess, Site

__all__ = [
    "Listener",
    "Published",
    "ReadAccess",
    "Site",
    "announced",
    "create_app",
    "find_run_page",
    "is_loopback",
    "publish",
    "serve_until_stopped",
]

# These need FastAPI.
__getattr__ = load_on_demand(
    __name__,
    {
        "app": ("create_app",),
        "presence": ("announced", "find_run_page"),
        "publication": ("Published", "publish"),
        "server": ("Listener", "is_loopback", "serve_until_stopped"),
        "site": ("ReadAccess", "Site"),
    },
)
