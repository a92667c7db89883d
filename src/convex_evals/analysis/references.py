"""Which run is meant: an id, the beginning of one, `latest:MODEL`, or the address of a page about it."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from convex_evals.core.errors import UsageError

LATEST: Final = "latest:"
_PAGE: Final = re.compile(r"(?P<base>.*?)/experiment/[^/]+/run/(?P<run>[^/]+)(?:/|$)")


def run_reference(given: str) -> str:
    """What `ScoresStore.find_run` takes. Raises UsageError when an address names no run."""
    is_page = "/" in given and not given.startswith(LATEST)  # models have slashes in their names
    return unquote(_page(given)["run"]) if is_page else given


def run_service(given: str) -> str | None:
    """Where the page of the run is, if the address says so. Raises UsageError when an address names no run."""
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https"):
        return None
    return f"{parts.scheme}://{parts.netloc}{_page(given)['base']}"


def _page(given: str) -> re.Match[str]:
    found = _PAGE.match(urlsplit(given).path)
    if found is None:
        raise UsageError(f"{given!r} names no run; the address of a page about one is like …/experiment/NAME/run/ID.")
    return found
