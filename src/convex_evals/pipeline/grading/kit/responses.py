"""What an HTTP endpoint answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any


@dataclass(frozen=True, slots=True)
class Response:
    """`headers` are looked up whatever their case."""

    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        try:
            return json.loads(self.body, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise AssertionError(f"expected a JSON body, received {self.status} {self.text[:500]!r}") from error

    def header(self, name: str) -> str | None:
        value = self.headers.get(name)
        return None if value is None else str(value)

    def __repr__(self) -> str:
        return f"Response({self.status}, {self.text[:200]!r})"


def _refuse(constant: str) -> None:
    """Python would read NaN and its like; nobody else does."""
    raise ValueError(f"{constant} is not JSON")


Headers = Mapping[str, str]
