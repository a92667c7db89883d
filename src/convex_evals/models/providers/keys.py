"""The key that a model is asked with."""

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Secret, Settings, key_variables
from convex_evals.models.registry import ModelEntry


def has_key(entry: ModelEntry, settings: Settings) -> bool:
    """Whether the model could be asked, as far as keys go."""
    return not entry.needs_key or settings.provider_key(entry.provider) is not None


def require_key(entry: ModelEntry, settings: Settings) -> Secret | None:
    """None: the model needs none. Raises UsageError when it does and there is none."""
    if not has_key(entry, settings):
        variables = " or ".join(key_variables(entry.provider))
        raise UsageError(f"{entry.slug} needs a key: set {variables} in the environment or in .env.")
    return settings.provider_key(entry.provider)
