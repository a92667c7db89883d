"""From the name a user gives to the model that answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Settings, read_settings
from convex_evals.models.cache import CachingTransport, ResponseCache
from convex_evals.models.experiments import AskOptions
from convex_evals.models.model import (
    BUILT_IN,
    SAMPLE,
    SAMPLES,
    EmptyModel,
    FolderReplay,
    Model,
    RecordedModel,
    ReferenceModel,
    RunReplay,
    StoredAnswers,
)
from convex_evals.models.prompt import prompt_fingerprint
from convex_evals.models.providers import AskSettings, Limits, ProviderModel, has_key, missing_key, open_provider
from convex_evals.models.registry import ModelEntry, Registry, load_registry

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


REPLAY: Final = "replay:"
LOCAL: Final = "local"
UNASKED: Final = (BUILT_IN, SAMPLES)
"""The providers of models that answer without being sent anything."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Connections:
    """What all models of a command share: keys, the response cache, and how much providers take at once.

    `say` is told what is odd but not an error. Nobody needs a key who only `estimates`.
    """

    settings: Settings
    say: Say = lambda sentence: None
    limits: Limits = field(default_factory=Limits)
    estimates: bool = False


def find_model(
    name: str,
    store: "ScoresStore",
    answer_files: Sequence[str] | None = None,
    *,
    asking: AskOptions | None = None,
    connections: Connections | None = None,
) -> Model:
    """The model of this name, to be asked in this way. Raises UsageError.

    `answer_files` are the globs that `reference` honours and prompts mention.
    """
    globs = answer_files or ("**/*",)
    if name.startswith(REPLAY):
        return _find_replay(name, name.removeprefix(REPLAY), store)
    registry = load_registry()
    if name.startswith(SAMPLE):
        return _recorded(name, registry)
    entry = registry.find(name)
    if entry.api == "recorded":
        return _recorded(entry.slug, registry)
    if entry.api == "built-in":
        return EmptyModel() if entry.slug == "empty" else ReferenceModel(globs)
    connections = connections or Connections(read_settings())
    _mention_neighbours(entry, registry, connections.say)
    return provider_model(entry, asking or AskOptions(), globs, connections)


def _recorded(slug: str, registry: Registry) -> RecordedModel:
    entry = registry.models.get(slug)
    return replace(RecordedModel.named(slug), experiment=entry.experiment if entry else None)


def prompt_fingerprint_of(model: Model) -> str | None:
    """Of the prompts that the model's answers come from; None when nobody was asked."""
    match model:
        case ProviderModel():
            return prompt_fingerprint(model.prompt_settings)
        case RunReplay():
            return model.stored.prompt
        case _:
            return None


def located(entry: ModelEntry, base_url: str | None) -> ModelEntry:
    """The entry with the address of --base-url, if it is one of those that need one."""
    return replace(entry, base_url=base_url) if takes_base_url(entry) and base_url else entry


def takes_base_url(entry: ModelEntry) -> bool:
    """Only local/NAME: nobody's key goes to another server than its provider's because of an option."""
    return entry.provider == LOCAL


def provider_model(
    entry: ModelEntry, asking: AskOptions, answer_files: Sequence[str], connections: Connections
) -> ProviderModel:
    """Raises UsageError when there is no key, no address, or no web search where there must be one."""
    if asking.experiment.web_search and not entry.web_search:
        raise UsageError(f"{entry.slug} cannot search the web, which the experiment {asking.experiment.name} requires.")
    entry = located(entry, asking.base_url)
    prompt = asking.prompt_settings(answer_files)
    cache = ResponseCache.of(connections.settings, connections.say)
    if connections.estimates and not has_key(entry, connections.settings):
        connections.say(f"{missing_key(entry)} Without one it can be estimated, but not asked.")
    provider = open_provider(
        entry, connections.settings, limits=connections.limits, needs_key=not connections.estimates
    )
    transport = CachingTransport(provider, cache, entry, asking.cache_scope)
    return ProviderModel(
        entry.slug, entry.provider, transport, prompt, AskSettings.of(entry, web_search=prompt.web_search)
    )


def _mention_neighbours(entry: ModelEntry, registry: Registry, say: Say) -> None:
    """Otherwise only the provider would notice a typo in the name of an unlisted model."""
    near = [] if entry.listed else get_close_matches(entry.slug, [*registry.models], n=3, cutoff=0.85)
    if near:
        say(f"{entry.slug} is not listed, and is asked for as it is; listed are: {', '.join(near)}.")


def _find_replay(name: str, source: str, store: "ScoresStore") -> Model:
    """Named after the complete path or id, so that the run can be resumed from anywhere."""
    folder = Path(source).absolute()
    if source and folder.is_dir():
        return FolderReplay(folder, f"{REPLAY}{folder}")
    if not source or "/" in source:
        raise UsageError(f"{name!r} must name a folder of answers or a run, as in replay:answers or replay:0a1b2c3d.")
    run = store.find_run(source)
    return RunReplay(StoredAnswers.of_run(store, run), f"{REPLAY}{run.id}")
