"""One typed object with every setting, read once at the edge: flags, then environment, then `.env`."""

from convex_evals.core.settings.secret import MASK, PROVIDER_VARIABLES, ProviderKey, Secret, key_variables
from convex_evals.core.settings.settings import Destination, NetworkVariable, Settings, read_settings
from convex_evals.core.settings.variables import is_service_url

__all__ = [
    "MASK",
    "PROVIDER_VARIABLES",
    "Destination",
    "NetworkVariable",
    "ProviderKey",
    "Secret",
    "Settings",
    "is_service_url",
    "key_variables",
    "read_settings",
]
