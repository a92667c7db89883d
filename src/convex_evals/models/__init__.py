"""Who answers: models that turn a task into files."""

from convex_evals.models.asking import Asking
from convex_evals.models.finding import UNASKED, Connections, find_model, prompt_fingerprint_of
from convex_evals.models.model import BUILT_IN, Model
from convex_evals.models.providers import ModelUnusableError, ProviderError
from convex_evals.models.replay import RunReplay
from convex_evals.models.stored import StoredAnswers, StoredGeneration

__all__ = [
    "BUILT_IN",
    "UNASKED",
    "Asking",
    "Connections",
    "Model",
    "ModelUnusableError",
    "ProviderError",
    "RunReplay",
    "StoredAnswers",
    "StoredGeneration",
    "find_model",
    "prompt_fingerprint_of",
]
