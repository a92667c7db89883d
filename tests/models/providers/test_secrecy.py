"""No key and no header reaches a text, whatever a provider sends back."""

import logging
import traceback
from typing import Any
from urllib.parse import quote

import pytest

from convex_evals.core.settings import Secret
from convex_evals.core.settings.secret import MASK
from convex_evals.models.providers import ProviderError
from convex_evals.models.providers.clients import LONGEST, Redaction
from convex_evals.models.registry import ApiKind

ODD_KEY = "k/1+2=3%"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"Your key {ODD_KEY} is wrong.", f"Your key {MASK} is wrong."),
        (f"GET /models?key={quote(ODD_KEY, safe='')}", f"GET /models?key={MASK}"),
        ("{'authorization': 'Bearer another-secret-1'}", f"{{'authorization': 'Bearer {MASK}'}}"),
        ('"x-api-key": "another-secret-1"', f'"x-api-key": "{MASK}"'),
        ("Two\n  lines.", "Two lines."),
        ("Nothing to hide.", "Nothing to hide."),
    ],
)
def test_what_a_provider_says_is_shown_without_keys(said: str, shown: str) -> None:
    assert Redaction(Secret(ODD_KEY)).quote(said) == shown


def test_what_a_provider_says_is_shown_only_as_far_as_a_sentence_goes() -> None:
    shown = Redaction(None).quote("x" * 5000)
    assert len(shown) == LONGEST and shown.endswith("…")


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 418, 422, 429, 500, 503])
@pytest.mark.parametrize(
    ("provider", "api"), [("local", "openai-chat"), ("openai", "openai-responses"), ("anthropic", "anthropic")]
)
async def test_a_provider_that_repeats_our_headers_reveals_nothing(
    provider_server: Any, asker: Any, key: str, caplog: Any, capfd: Any, provider: str, api: ApiKind, status: int
) -> None:
    caplog.set_level(logging.INFO)
    provider_server.script(provider_server.echoes(status))
    with pytest.raises(ProviderError) as raised:
        await asker.ask(asker.entry(provider, api), tries=1)
    (asked,) = provider_server.requests
    assert any(key in value for value in asked.headers.values())
    printed = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + caplog.text
    assert key not in printed + "".join(capfd.readouterr())
    assert raised.value.__context__ is None


def test_a_transport_does_not_show_its_key(asker: Any, key: str) -> None:
    assert key not in repr(asker.transport())
