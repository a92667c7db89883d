"""The settings, and how they are read: the only place that looks at the environment of this process.

Services that runs are sent to have names in `convex-evals.toml`, and tokens in the environment or `.env`.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from convex_evals.core.errors import SettingsError, UsageError
from convex_evals.core.settings.secret import PROVIDER_VARIABLES, ProviderKey, Secret, provider_of
from convex_evals.core.settings.variables import (
    ENV_FILE,
    PROJECT_FILE,
    Source,
    Variables,
    find_file,
    is_service_url,
    read_env_file,
    shown_url,
)

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
            raise SettingsError(f"{project_file}, [scores.{name}], needs {expected}, but its URL is {shown_url(url)}.")
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
        raise UsageError(
            f"--to must be the name or the URL of a scores service, but it is {shown_url(wanted)}; {advice}."
        )
    url = wanted.rstrip("/")
    return next((each for each in known if each.url == url), Destination(url, None, token))


def origin(url: str) -> tuple[str, str, int | None]:
    """Who answers there. Raises ValueError."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _token(variables: Variables, name: str) -> Secret | None:
    own = f"{TOKEN_VARIABLE}_{name.upper().replace('-', '_')}"
    return variables.secret(own) or variables.secret(TOKEN_VARIABLE)


@dataclass(frozen=True, slots=True)
class NetworkVariable:
    """A proxy, certificate or registry variable that package clients need. May hold a password, so it is a secret."""

    name: str
    value: Secret


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that comes from outside the program. docs/settings.md lists the variables behind the fields."""

    home: Path
    cache_folder: Path
    models: tuple[str, ...] = ()
    test_filter: str | None = None
    experiment: str | None = None
    analyst: str | None = None
    output_folder: Path | None = None
    scores_url: str | None = None
    scores_token: Secret | None = None
    destinations: tuple[Destination, ...] = ()
    provider_keys: tuple[ProviderKey, ...] = ()
    other_keys: tuple[ProviderKey, ...] = field(default=(), repr=False)
    node: Path | None = None
    ray_address: str | None = None
    search_path: str = ""
    network: tuple[NetworkVariable, ...] = field(default=(), repr=False)
    env_file: Path | None = None
    project_file: Path | None = None

    def destination(self, to: str | None = None) -> Destination | None:
        """The service that `--to` names; without it the one of CONVEX_EVAL_URL. None: nowhere. Raises UsageError."""
        return find_destination(to, self.destinations, self.scores_url, self.scores_token)

    def token_for(self, url: str) -> Secret | None:
        """Of the service that is configured with the same scheme, host and port; no other server may see it."""
        usual = (Destination(self.scores_url, None, self.scores_token),) if self.scores_url else ()
        known = (*self.destinations, *usual)
        return next((each.token for each in known if origin(each.url) == origin(url)), None)

    def provider_key(self, provider: str) -> Secret | None:
        """Of a known or a user-defined provider: the key of `my-box` is in MY_BOX_API_KEY."""
        found = [key.secret for key in self.provider_keys if key.provider == provider]
        found += [key.secret for key in self.other_keys if key.provider == provider.replace("-", "_")]
        return found[0] if found else None

    def network_environment(self) -> dict[str, str]:
        """For package clients (npm, pip) only; nothing that runs a model's code may see it."""
        return {variable.name: variable.value.reveal() for variable in self.network}

    def without_secrets(self) -> Self:
        """What may be sent to another process."""
        places = tuple(replace(each, token=None) for each in self.destinations)
        return replace(self, scores_token=None, destinations=places, provider_keys=(), other_keys=(), network=())


SYSTEM_NODE: Final = "system"
_NETWORK_NAMES: Final = frozenset(
    {
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "node_extra_ca_certs",
        "ssl_cert_file",
        "ssl_cert_dir",
        "npm_token",
    }
)
_NETWORK_PREFIXES: Final = ("npm_config_", "pip_", "uv_")


def read_settings(
    overrides: Mapping[str, str | None] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """Reads flags (`overrides`, by variable name), the environment and `.env`, in this order of precedence.

    Without `environment` and `cwd` those of this process are used. Raises SettingsError.
    """
    process = os.environ if environment is None else environment
    cwd = Path.cwd() if cwd is None else cwd.absolute()
    home = Path(process.get("HOME") or Path.home())
    flags = {name: value for name, value in (overrides or {}).items() if value is not None}
    env_file = find_file(ENV_FILE, cwd, home)
    sources = [Source("option", flags), Source("environment", process)]
    if env_file is not None:
        sources.append(Source(str(env_file), read_env_file(env_file)))
    variables, project_file = Variables(tuple(sources), cwd, home), find_file(PROJECT_FILE, cwd, home)
    return replace(
        _settings(variables, env_file),
        project_file=project_file,
        destinations=read_destinations(variables, project_file),
    )


def _settings(variables: Variables, env_file: Path | None) -> Settings:
    return Settings(
        home=variables.home,
        cache_folder=_cache_folder(variables),
        models=variables.words("MODELS"),
        test_filter=variables.pattern("TEST_FILTER"),
        experiment=variables.text("EVALS_EXPERIMENT"),
        analyst=variables.text("CONVEX_EVALS_ANALYST"),
        output_folder=variables.folder("OUTPUT_TEMPDIR"),
        scores_url=variables.url("CONVEX_EVAL_URL"),
        scores_token=variables.secret(TOKEN_VARIABLE),
        provider_keys=_provider_keys(variables),
        other_keys=_other_keys(variables),
        node=_node(variables),
        ray_address=variables.text("RAY_ADDRESS"),
        search_path=variables.text("PATH") or os.defpath,
        network=_network(variables),
        env_file=env_file,
    )


def _cache_folder(variables: Variables) -> Path:
    chosen = variables.folder("CONVEX_EVALS_CACHE")
    if chosen is not None:
        return chosen
    shared = Path(variables.text("XDG_CACHE_HOME") or "")
    # The XDG specification says to ignore a relative path.
    return (shared if shared.is_absolute() else variables.home / ".cache") / "convex-evals"


def _provider_keys(variables: Variables) -> tuple[ProviderKey, ...]:
    found: dict[str, ProviderKey] = {}
    for provider, names in PROVIDER_VARIABLES.items():
        for name in names:
            secret = variables.secret(name)
            if secret is not None:
                found.setdefault(provider, ProviderKey(provider, name, secret))
    return tuple(found.values())


def _other_keys(variables: Variables) -> tuple[ProviderKey, ...]:
    """Most have nothing to do with models, so none is checked; a user-defined provider may need one."""
    found = []
    for name in sorted(set(variables.names())):
        provider, text = provider_of(name), variables.text(name)
        if provider is not None and text is not None:
            found.append(ProviderKey(provider, name, Secret(text)))
    return tuple(found)


def _node(variables: Variables) -> Path | None:
    if variables.text("CONVEX_EVALS_NODE") != SYSTEM_NODE:
        return variables.executable("CONVEX_EVALS_NODE")
    found = shutil.which("node", path=variables.text("PATH") or os.defpath)
    if found is None:
        raise SettingsError(
            "CONVEX_EVALS_NODE is 'system', but there is no node on PATH; install Node 22 or newer or unset it."
        )
    return Path(found).absolute()


def _network(variables: Variables) -> tuple[NetworkVariable, ...]:
    names = sorted({name for name in variables.names() if _is_network_variable(name)})
    texts = ((name, variables.text(name)) for name in names)
    return tuple(NetworkVariable(name, Secret(text)) for name, text in texts if text is not None)


def _is_network_variable(name: str) -> bool:
    lower = name.lower()
    return lower in _NETWORK_NAMES or lower.startswith(_NETWORK_PREFIXES)
