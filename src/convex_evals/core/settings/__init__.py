"""One typed object with every setting, read once at the edge: flags, then environment, then `.env`."""

from convex_evals.core.settings.provider_keys import PROVIDER_VARIABLES, ProviderKey, key_variables
from convex_evals.core.settings.read import read_settings
from convex_evals.core.settings.secret import Secret
from convex_evals.core.settings.settings import NetworkVariable, Settings

__all__ = [
    "PROVIDER_VARIABLES",
    "NetworkVariable",
    "ProviderKey",
    "Secret",
    "Settings",
    "key_variables",
    "read_settings",
]
