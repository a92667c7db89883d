"""What the application shows, and to whom: the values that every page and every route of the API needs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fastapi import Request

from convex_evals.core.http import THIS_MACHINE, Access
from convex_evals.core.settings import Settings, read_settings

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore
    from convex_evals.suite import Suite

ReadAccess = Literal["open", "token"]


def _settings() -> Settings:
    return read_settings().without_secrets()


@dataclass(frozen=True, slots=True)
class Site:
    """One server. `name` is the deployment it is (production, development or a name of its own).

    `access` has the hosts that it answers for. On a `desk` it serves only the user who started it, who may label
    failures without a token.
    """

    store: "ScoresStore"
    name: str = "local"
    read: ReadAccess = "open"
    suite: "Suite | None" = None
    reports: Path = Path("reports")
    access: Access = THIS_MACHINE
    desk: bool = False
    settings: Settings = field(default_factory=_settings)


def current_site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


async def site_of(request: Request) -> Site:
    """Use as a dependency: `site: Annotated[Site, Depends(site_of)]`. Unless it is a coroutine, it costs a thread."""
    return current_site(request)
