"""A server that is up leaves its address where runs on the same scores find it, and so can say where to follow them."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx2

from convex_evals.core.files import write_file
from convex_evals.core.settings import Settings

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore

SUFFIX: Final = ".serving"
SECONDS: Final = 20.0
NEEDS_TOKEN: Final = (303, 401)
"""Who answers so may well know the run; who does not know it serves other scores."""


@contextmanager
def announced(store: "ScoresStore", settings: Settings, url: str) -> Iterator[None]:
    """While it lasts, runs on these scores find the server. Of several servers, they find the last one."""
    notice = _notice(store, settings)
    with suppress(OSError):  # scores may be in a folder that only others write to
        notice.parent.mkdir(parents=True, exist_ok=True)
        write_file(notice, url.encode())
    try:
        yield
    finally:
        with suppress(OSError):
            if notice.read_text() == url:
                notice.unlink()


def find_run_page(store: "ScoresStore", settings: Settings, run_id: str) -> str | None:
    """The address of a run's page, if there is a server that shows it."""
    try:
        url = _notice(store, settings).read_text()
        asked = httpx2.head(f"{url}/run/{run_id}", timeout=SECONDS, trust_env=False)
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL):
        return None
    if asked.status_code == 308:  # to its own address
        return url + asked.headers["location"]
    return f"{url}/run/{run_id}" if asked.status_code in NEEDS_TOKEN else None


def _notice(store: "ScoresStore", settings: Settings) -> Path:
    """Beside a SQLite file; scores elsewhere have their notices in the cache folder."""
    if store.file is not None:
        return store.file.with_name(store.file.name + SUFFIX)
    return settings.cache_folder / "serving" / hashlib.sha256(store.location.encode()).hexdigest()[:16]
