"""Models of providers: OpenAI, Anthropic, Google, OpenRouter, and any server that speaks as they do.

Importing this costs nothing; the libraries that speak to providers are loaded when a model is first asked.
"""

from convex_evals.models.providers.asking import AskSettings, Question, Reply, Transport
from convex_evals.models.providers.errors import (
    BusyError,
    DeadlineError,
    ModelUnusableError,
    OutageError,
    ProviderError,
    RequestRefusedError,
)
from convex_evals.models.providers.keys import has_key
from convex_evals.models.providers.limit import Limits
from convex_evals.models.providers.model import ProviderModel
from convex_evals.models.providers.opening import open_provider
from convex_evals.models.providers.patience import Patience

__all__ = [
    "AskSettings",
    "BusyError",
    "DeadlineError",
    "Limits",
    "ModelUnusableError",
    "OutageError",
    "Patience",
    "ProviderError",
    "ProviderModel",
    "Question",
    "Reply",
    "RequestRefusedError",
    "Transport",
    "has_key",
    "open_provider",
]
