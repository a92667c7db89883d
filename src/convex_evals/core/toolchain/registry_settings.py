"""The part of the user's npm settings that an installation needs: where packages come from and how to get there.

npm itself sees no file of the user's: it gets these settings in its environment, and an empty HOME.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.node import Node

_PREFIX: Final = "npm_config_"
_KEYS: Final = frozenset(
    {
        *("registry", "replace-registry-host", "maxsockets", "local-address"),
        *("proxy", "http-proxy", "https-proxy", "noproxy", "no-proxy"),
        *("ca", "cafile", "cert", "key", "strict-ssl", "_auth", "_authtoken"),
    }
)
_SCOPE: Final = re.compile(r"@[A-Za-z0-9._~-]+:registry")
_HOST_KEY: Final = re.compile(r"//[^\s=]+/?:(?:_authToken|_auth|_password|username|email|always-auth|certfile|keyfile)")
_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})
_CERTIFICATES: Final = frozenset({"node_extra_ca_certs", "ssl_cert_file", "ssl_cert_dir"})
_SYSTEM_FILES: Final = (Path("/usr/local/etc/npmrc"), Path("/usr/etc/npmrc"), Path("/etc/npmrc"))
_VARIABLE: Final = re.compile(r"(?<!\\)\$\{([^${}]+)\}")
_LARGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """`environment` is for npm; `files` are certificates and keys that it has to read; `registries` are the
    addresses that the user has set; lock files leave npm's own default out."""

    environment: dict[str, str]
    files: tuple[Path, ...]
    registries: tuple[str, ...]


def read_registry_settings(settings: Settings, node: Node) -> RegistrySettings:
    """From the environment, the user's npmrc and the machine's, in this order of precedence."""
    variables = settings.network_environment()
    own = {name.lower(): value for name, value in variables.items()}
    merged: dict[str, str] = {}
    for file in reversed(_config_files(settings, node, own)):
        merged.update(_read_npmrc(file, variables, settings.home))
    merged.update(_from_environment(variables, settings.home))
    passed = {name: value for name, value in variables.items() if name.lower() in _PROXIES | _CERTIFICATES}
    files = [value for name, value in passed.items() if name.lower() in _CERTIFICATES]
    files += [value for key, value in merged.items() if _names_a_file(key)]
    registries = [value for key, value in merged.items() if key == "registry" or _SCOPE.fullmatch(key)]
    return RegistrySettings(
        {**passed, **{f"{_PREFIX}{key}": value for key, value in merged.items()}},
        tuple(Path(file) for file in files if Path(file).is_absolute()),
        tuple(f"{address.rstrip('/')}/" for address in registries),
    )


def _config_files(settings: Settings, node: Node, variables: Mapping[str, str]) -> list[Path]:
    """The strongest first. Our own npm has no global file, so those of other npms count."""
    user = Path(variables.get(f"{_PREFIX}userconfig") or settings.home / ".npmrc")
    if chosen := variables.get(f"{_PREFIX}globalconfig"):
        return [user, Path(chosen)]
    prefix = Path(variables.get(f"{_PREFIX}prefix") or node.executable.parent.parent)
    return [user, prefix / "etc/npmrc", *_SYSTEM_FILES]


def _from_environment(variables: Mapping[str, str], home: Path) -> dict[str, str]:
    found = {}
    for name, value in variables.items():
        if name.lower().startswith(_PREFIX):
            key = name[len(_PREFIX) :]
            key = key if key.startswith("//") else key[:1].lower() + key[1:].replace("_", "-").lower()
            if _allowed(key):
                found[key] = _expand_home(key, value, home)
    return found


def _read_npmrc(path: Path, variables: Mapping[str, str], home: Path) -> dict[str, str]:
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # there is none, or it is not ours to read
        return {}
    found: dict[str, list[str]] = {}
    for key, value in _assignments(text):
        if _allowed(key):
            expanded = _VARIABLE.sub(lambda match: variables.get(match[1].rstrip("?"), match[0]), value)
            found.setdefault(key, []).append(_expand_home(key, expanded, home))
    # npm separates the values of a list by an empty line; of everything else the last one counts.
    return {key: "\n\n".join(values) if key == "ca" else values[-1] for key, values in found.items()}


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and key[:1] not in ("", ";", "#", "["):
            yield key.strip().removesuffix("[]"), _unquote(value.strip())


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    return re.split(r"\s[;#]", value, maxsplit=1)[0].strip()


def _allowed(key: str) -> bool:
    return key.lower() in _KEYS or bool(_SCOPE.fullmatch(key) or _HOST_KEY.fullmatch(key))


def _names_a_file(key: str) -> bool:
    return key == "cafile" or key.endswith((":certfile", ":keyfile"))


def _expand_home(key: str, value: str, home: Path) -> str:
    if not _names_a_file(key):
        return value
    return str(home / value.removeprefix("~/"))
