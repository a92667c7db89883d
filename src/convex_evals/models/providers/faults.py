"""From what the libraries raise to one sentence that says what is to be done, without the key."""

import json
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from pydantic_ai import exceptions as raised

from convex_evals.core.settings import MASK, Secret, key_variables
from convex_evals.models.providers import errors
from convex_evals.models.registry import ModelEntry

LONGEST: Final = 300
_CREDENTIALS: Final = re.compile(r"\b(bearer|basic|api[-_ ]?key)(\W{1,4})[^\s\"',;}]{6,}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Redaction:
    key: Secret | None

    def quote(self, said: str) -> str:
        """On one line, no longer than a sentence may be, and without the key."""
        shown = " ".join(self.clean(said).split())
        return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"

    def clean(self, said: str) -> str:
        if self.key is not None:
            for form in {self.key.reveal(), quote(self.key.reveal(), safe="")}:
                said = said.replace(form, MASK)
        return _CREDENTIALS.sub(lambda match: f"{match[1]}{match[2]}{MASK}", said)


_MESSAGES: Final = ("message", "detail")
"""Where a description of an error has its words: at most providers, and at servers that are made with FastAPI."""
LATER = frozenset({408, 409, 425})  # other statuses of 4xx come again however often one asks


@dataclass(frozen=True, slots=True)
class Faults:
    """Turns what the libraries raise for one model into errors of ours."""

    entry: ModelEntry
    redaction: Redaction

    def explain(self, error: Exception) -> errors.ProviderError:
        """Decided by the kind of the exception, which the library finds from statuses and codes."""
        match error:
            case raised.ModelAuthenticationError():
                return errors.ModelUnusableError(self._key_refused(error))
            case raised.ModelQuotaExceededError():
                return errors.ModelUnusableError(self._sentence("has no credit or quota left for this key", error))
            case raised.ModelNotFoundError():
                return errors.ModelUnusableError(self._not_found(error))
            case raised.ModelRateLimitError() | raised.ModelUnavailableError():
                return errors.BusyError(self._sentence("is overloaded or limits our rate", error), error.retry_after)
            case raised.ModelServerError():
                return errors.OutageError(self._sentence("failed", error), error.retry_after)
            case raised.ModelConnectionError():
                return errors.OutageError(self._sentence("cannot be reached, or the connection was lost", error))
            case raised.ModelHTTPError(status_code=status) if status in LATER:
                return errors.OutageError(self._sentence("failed", error), error.retry_after)
            case raised.ModelRequestRejectedError() | raised.ModelHTTPError():
                return errors.RequestRefusedError(self._sentence("refuses the request", error))
            case raised.UserError():
                return errors.ModelUnusableError(self._sentence("cannot be asked with these settings", error))
            case _:
                return errors.ProviderError(self._sentence("sent an unreadable response", error))

    def _key_refused(self, error: raised.ModelAuthenticationError) -> str:
        """Without the provider's words, because many repeat a part of the key."""
        variables = " or ".join(key_variables(self.entry.provider))
        held = f"the key in {variables}" if self.redaction.key is not None else "us without a key"
        advice = "check it" if self.redaction.key is not None else f"set {variables}"
        return f"{self.entry.slug}: {self._who} refuses {held}{_status(error)}; {advice}."

    def _not_found(self, error: raised.ModelNotFoundError) -> str:
        """Whether it is the model or the whole address that the server does not know, its words tell."""
        about_model = rf"model|\b{re.escape(self.entry.model)}\b"
        if self.entry.base_url is None or re.search(about_model, f"{error.body or ''}", re.IGNORECASE):
            return self._sentence(f"has no model {self.entry.model!r}", error)
        usual = "" if self.entry.base_url.rstrip("/").endswith("/v1") else ": it usually ends in /v1"
        found = self._sentence("has nothing there", error).removesuffix(".")
        return f"{found}; the address (--base-url, or base_url in models.toml) may be wrong{usual}."

    def _sentence(self, what: str, error: Exception) -> str:
        said = self.redaction.quote(_words(error)).rstrip(".")
        return f"{self.entry.slug}: {self._who} {what}{_status(error)}{f': {said}' if said else ''}."

    @property
    def _who(self) -> str:
        return self.entry.base_url or self.entry.provider


def _status(error: Exception) -> str:
    return f" ({error.status_code})" if isinstance(error, raised.ModelHTTPError) else ""


def _words(error: Exception) -> str:
    """The provider's own, if it has any."""
    body = error.body if isinstance(error, raised.ModelAPIError) else None
    inner = body.get("error", body) if isinstance(body, dict) else body
    messages = [inner.get(name) for name in _MESSAGES] if isinstance(inner, dict) else [inner]
    for message in messages:
        if isinstance(message, str) and message.strip():
            return message
    if body:
        return json.dumps(body, ensure_ascii=False, default=str)
    return str(error) or type(error).__name__
