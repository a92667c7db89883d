"""Models of providers: OpenAI, Anthropic, Google, OpenRouter, and any server that speaks as they do.

Importing this costs nothing; the libraries that speak to providers are loaded when a model is first asked.
"""

from convex_evals.models.providers.errors import (
    BusyError,
    DeadlineError,
    ModelUnusableError,
    OutageError,
    ProviderError,
    RequestRefusedError,
)
from convex_evals.models.providers.provider import ProviderModel, has_key, missing_key, open_provider
from convex_evals.models.providers.question import AskSettings, Question, Reply, Transport
from convex_evals.models.providers.retry import Limits, RequestPolicy

__all__ = [
    "AskSettings",
    "BusyError",
    "DeadlineError",
    "Limits",
    "ModelUnusableError",
    "OutageError",
    "ProviderError",
    "ProviderModel",
    "Question",
    "Reply",
    "RequestPolicy",
    "RequestRefusedError",
    "Transport",
    "has_key",
    "missing_key",
    "open_provider",
]
