"""How the models of a run are asked. Recorded with the run, so that it can be resumed from anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, cast
from urllib.parse import urlsplit

from convex_evals.core.errors import UsageError
from convex_evals.models.experiments import BUILT_IN, DEFAULT, NO_GUIDELINES, Experiment
from convex_evals.models.prompt import Delivery, PromptSettings

_FIXED: Final = (BUILT_IN, NO_GUIDELINES)


@dataclass(frozen=True, slots=True)
class Asking:
    """`base_url` is where `local/NAME` is served. With `cache_scope` the run uses only cached responses of its own."""

    experiment: Experiment = field(default_factory=lambda: Experiment(DEFAULT))
    base_url: str | None = None
    cache_scope: str | None = None

    def __post_init__(self) -> None:
        if self.base_url is not None:
            _check_url(self.base_url)

    def prompt_settings(self, answer_files: Sequence[str] | None) -> PromptSettings:
        """Raises UsageError."""
        return self.experiment.prompt_settings(answer_files or ("**/*",))

    def as_json(self) -> dict[str, Any]:
        """For the record of the run; the experiment's name stands there already."""
        experiment = self.experiment
        guidelines = experiment.guidelines
        return {
            "guidelines": guidelines if guidelines in _FIXED else str(Path(guidelines).absolute()),
            "delivery": experiment.delivery,
            "webSearch": experiment.web_search,
            "without": list(experiment.without),
            "baseUrl": self.base_url,
            "cacheScope": self.cache_scope,
        }

    @classmethod
    def from_json(cls, experiment: str, recorded: Mapping[str, Any] | None) -> Self:
        """As it was; runs that were recorded before this was have nothing but the experiment's name."""
        if recorded is None:
            return cls(Experiment(experiment))
        guidelines = recorded["guidelines"]
        asked = Experiment(
            name=experiment,
            guidelines=guidelines if guidelines in _FIXED else Path(guidelines),
            delivery=cast(Delivery, recorded["delivery"]),
            web_search=bool(recorded["webSearch"]),
            without=tuple(recorded["without"]),
        )
        return cls(asked, recorded["baseUrl"], recorded["cacheScope"])


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = None, False
    if not usable:
        raise UsageError(f"--base-url must be a URL such as http://127.0.0.1:8080/v1, but it is {url!r}.")
    if parts is not None and parts.password is not None:
        raise UsageError("--base-url must not have a password in it, since it is recorded with the run.")
