"""Nothing that a provider says is shown before its key is taken out: some send back what they were sent."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from convex_evals.core.settings import Secret
from convex_evals.core.settings.secret import MASK

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
