"""Who answers: models that turn a task into files.

Importing this costs little; the libraries that speak to providers are loaded when a model is first asked.
"""

from convex_evals.models.cache import ResponseCache
from convex_evals.models.costs import (
    CHARACTERS_PER_TOKEN,
    Expected,
    OutputBasis,
    expect_generation,
    has_price,
    output_basis,
)
from convex_evals.models.discovery import Discovered, as_toml, discover, listing_providers
from convex_evals.models.experiments import (
    DEFAULT_EXPERIMENT,
    AskOptions,
    Experiment,
    Variant,
    VariantKind,
    find_experiment,
    load_experiments,
    plan_variants,
)
from convex_evals.models.lookup import UNASKED, Connections, find_model, located, prompt_fingerprint_of, takes_base_url
from convex_evals.models.model import BUILT_IN, Model, RecordedModel, RunReplay, StoredAnswers, StoredGeneration
from convex_evals.models.prompt import Prompt, prompt_fingerprint, prompt_for, task_in
from convex_evals.models.providers import (
    AskSettings,
    ModelUnusableError,
    ProviderError,
    ProviderModel,
    Question,
    Reply,
    RequestPolicy,
    Transport,
    has_key,
    open_provider,
)
from convex_evals.models.registry import ModelEntry, Registry, load_registry
from convex_evals.models.responses import cut_off

__all__ = [
    "BUILT_IN",
    "CHARACTERS_PER_TOKEN",
    "DEFAULT_EXPERIMENT",
    "UNASKED",
    "AskOptions",
    "AskSettings",
    "Connections",
    "Discovered",
    "Expected",
    "Experiment",
    "Model",
    "ModelEntry",
    "ModelUnusableError",
    "OutputBasis",
    "Prompt",
    "ProviderError",
    "ProviderModel",
    "Question",
    "RecordedModel",
    "Registry",
    "Reply",
    "RequestPolicy",
    "ResponseCache",
    "RunReplay",
    "StoredAnswers",
    "StoredGeneration",
    "Transport",
    "Variant",
    "VariantKind",
    "as_toml",
    "cut_off",
    "discover",
    "expect_generation",
    "find_experiment",
    "find_model",
    "has_key",
    "has_price",
    "listing_providers",
    "load_experiments",
    "load_registry",
    "located",
    "open_provider",
    "output_basis",
    "plan_variants",
    "prompt_fingerprint",
    "prompt_fingerprint_of",
    "prompt_for",
    "takes_base_url",
    "task_in",
]
