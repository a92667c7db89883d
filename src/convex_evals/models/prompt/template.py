"""The template: one text file with a version, a part per role, and places where values go.

{{name}}                      the value, as it is
{{#name}} … {{/name}}         lines that are there only if the value is
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from convex_evals.core.errors import UsageError

_VERSION: Final = re.compile(r"<!-- version: (?P<version>\d+) -->\n")
_ROLE: Final = re.compile(r"^<!-- (?P<role>system|user) -->\n", re.MULTILINE)
_CONDITION: Final = re.compile(
    r"^\{\{#(?P<name>\w+)\}\}\n(?P<lines>.*?)^\{\{/(?P=name)\}\}\n", re.MULTILINE | re.DOTALL
)
_PLACE: Final = re.compile(r"\{\{(?P<name>\w+)\}\}")

Values = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Template:
    """`sha256` is that of the whole file: any change to it is another prompt."""

    version: int
    system: str
    user: str
    sha256: str

    def fill_system(self, values: Values) -> str:
        return _fill(self.system, values)

    def fill_user(self, values: Values) -> str:
        return _fill(self.user, values)


@cache
def built_in_template() -> Template:
    return parse_template((files("convex_evals.models.prompt") / "template.md").read_text(encoding="utf-8"))


def parse_template(text: str) -> Template:
    version = _VERSION.match(text)
    parts = _ROLE.split(text[version.end() :]) if version else []
    if version is None or [part.strip() for part in parts[:2]] != ["", "system"] or parts[3::2] != ["user"]:
        raise UsageError(
            "A prompt template must begin with <!-- version: N -->, and then have <!-- system --> and <!-- user -->, "
            "each once and on a line of its own."
        )
    return Template(int(version["version"]), parts[2], parts[4], hashlib.sha256(text.encode()).hexdigest())


def _fill(text: str, values: Values) -> str:
    """Values are put in last and in one go, so nothing in a value is ever taken for a part of the template."""
    shown = _CONDITION.sub(lambda match: match["lines"] if values[match["name"]] else "", text)
    return _PLACE.sub(lambda match: values[match["name"]], shown).strip() + "\n"
