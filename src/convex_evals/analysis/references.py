"""Which run is meant: an id, the beginning of one, or the address of a page about it."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from convex_evals.core.errors import UsageError

_PAGE: Final = re.compile(r"/experiment/[^/]+/run/(?P<run>[^/]+)(?:/|$)")


def run_reference(given: str) -> str:
    """What `ScoresStore.find_run` takes. Raises UsageError when an address names no run."""
    if "/" not in given:
        return given
    found = _PAGE.search(urlsplit(given).path)
    if found is None:
        raise UsageError(f"{given!r} names no run; the address of a page about one is like …/experiment/NAME/run/ID.")
    return unquote(found["run"])
