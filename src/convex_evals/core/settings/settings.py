"""The settings themselves."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from convex_evals.core.settings.provider_keys import ProviderKey
from convex_evals.core.settings.secret import Secret


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
    provider_keys: tuple[ProviderKey, ...] = ()
    other_keys: tuple[ProviderKey, ...] = field(default=(), repr=False)
    node: Path | None = None
    search_path: str = ""
    network: tuple[NetworkVariable, ...] = field(default=(), repr=False)
    env_file: Path | None = None

    def provider_key(self, provider: str) -> Secret | None:
        """Of a provider that we know, or of one that the user made up: `my-box` has the key in MY_BOX_API_KEY."""
        found = [key.secret for key in self.provider_keys if key.provider == provider]
        found += [key.secret for key in self.other_keys if key.provider == provider.replace("-", "_")]
        return found[0] if found else None

    def network_environment(self) -> dict[str, str]:
        """For package clients (npm, pip) only; nothing that runs a model's code may see it."""
        return {variable.name: variable.value.reveal() for variable in self.network}

    def without_secrets(self) -> Self:
        """What may be sent to another process."""
        return replace(self, scores_token=None, provider_keys=(), other_keys=(), network=())
