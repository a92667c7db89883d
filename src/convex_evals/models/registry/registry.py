"""Finding a model by the name a user gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from convex_evals.core.errors import UsageError
from convex_evals.models.registry.entry import ApiKind, ModelEntry


@dataclass(frozen=True, slots=True)
class Provider:
    """Who serves models, and what its models have in common."""

    name: str
    api: ApiKind
    base_url: str | None = None
    output_tokens: int | None = None
    web_search: bool = False
    open: bool = True  # whether it has models that no file lists


@dataclass(frozen=True, slots=True)
class Registry:
    providers: Mapping[str, Provider]
    models: Mapping[str, ModelEntry]  # by slug, in the order of the files

    def find(self, name: str) -> ModelEntry:
        """By slug, by the part after the provider if only one model has it, or any model of a known provider.

        Raises UsageError.
        """
        if name in self.models:
            return self.models[name]
        short = [entry for entry in self.models.values() if name and entry.slug.partition("/")[2] == name]
        if len(short) > 1:
            raise UsageError(f"{name!r} may be {' or '.join(entry.slug for entry in short)}; give the provider too.")
        return short[0] if short else self._unlisted(name)

    def _unlisted(self, name: str) -> ModelEntry:
        provider_name, slash, model = name.partition("/")
        provider = self.providers.get(provider_name)
        if not slash or not model or provider is None or not provider.open:
            raise UsageError(self._unknown(name, provider))
        return ModelEntry(
            slug=name,
            name=model,
            provider=provider.name,
            model=model,
            api=provider.api,
            base_url=provider.base_url,
            output_tokens=provider.output_tokens,
            web_search=provider.web_search,
            listed=False,
        )

    def _unknown(self, name: str, provider: Provider | None) -> str:
        near = get_close_matches(name, [*self.models], n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "convex-evals models lists them."
        if "/" in name and provider is None:
            known = ", ".join(each.name for each in self.providers.values() if each.open)
            return f"There is no model {name!r}: its provider must be one of {known}; {hint}"
        return f"There is no model {name!r}; {hint}"
