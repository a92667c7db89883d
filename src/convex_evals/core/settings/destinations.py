"""Services that runs are sent to: by name from `convex-evals.toml`, with tokens from the environment or `.env`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from convex_evals.core.errors import SettingsError, UsageError
from convex_evals.core.settings.secret import Secret
from convex_evals.core.settings.variables import Variables

TOKEN_VARIABLE: Final = "CONVEX_AUTH_TOKEN"
_PORTS: Final = {"http": 80, "https": 443}
NOWHERE: Final = "local"
"""`--to local`: only into the scores of this machine."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A scores service. The URL is what it is known by; the name may be given to another one some day."""

    url: str
    name: str | None = None
    token: Secret | None = None

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.url})" if self.name else self.url


def read_destinations(variables: Variables, project_file: Path | None) -> tuple[Destination, ...]:
    """Those of `[scores.NAME]` tables. Raises UsageError."""
    if project_file is None:
        return ()
    from convex_evals.core.toml_file import read_toml

    scores = read_toml(project_file).table("scores")
    found = []
    for name, table in scores.tables() if scores is not None else ():
        url = table.required_text("url")
        table.finish()
        if name == NOWHERE or not is_service_url(url):
            expected = "a URL such as https://scores.example.com and a name other than 'local'"
            raise SettingsError(f"{project_file}, [scores.{name}], needs {expected}, but its URL is {url!r}.")
        found.append(Destination(url.rstrip("/"), name, _token(variables, name)))
    return tuple(found)


def find_destination(
    to: str | None, known: Sequence[Destination], usual: str | None, token: Secret | None
) -> Destination | None:
    """What `--to` means; without it `usual`, which is CONVEX_EVAL_URL. None: nowhere. Raises UsageError."""
    wanted = to or usual
    if wanted is None or wanted == NOWHERE:
        return None
    by_name = {each.name: each for each in known}
    if wanted in by_name:
        return by_name[wanted]
    if not is_service_url(wanted):
        names = ", ".join(str(name) for name in by_name)
        advice = f"known are {names}" if names else "add it to convex-evals.toml as [scores.NAME] with its url"
        raise UsageError(f"--to must be the name or the URL of a scores service, but it is {wanted!r}; {advice}.")
    url = wanted.rstrip("/")
    return next((each for each in known if each.url == url), Destination(url, None, token))


def is_service_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        return False


def origin(url: str) -> tuple[str, str, int | None]:
    """Who answers there. Raises ValueError."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _token(variables: Variables, name: str) -> Secret | None:
    own = f"{TOKEN_VARIABLE}_{name.upper().replace('-', '_')}"
    return variables.secret(own) or variables.secret(TOKEN_VARIABLE)
