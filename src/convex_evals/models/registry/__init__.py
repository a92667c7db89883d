"""The registry: which models there are, who serves them and how they are asked."""

from convex_evals.models.registry.entry import ApiKind, ModelEntry, Price, ReasoningEffort
from convex_evals.models.registry.loading import load_registry
from convex_evals.models.registry.registry import Provider, Registry

__all__ = ["ApiKind", "ModelEntry", "Price", "Provider", "ReasoningEffort", "Registry", "load_registry"]
