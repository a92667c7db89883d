"""One pushed JavaScript module."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Environment = Literal["isolate", "node"]


@dataclass(frozen=True)
class Module:
    path: str  # canonical: "dir/messages.js"
    source: str
    source_map: str | None
    environment: Environment

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256((self.source + (self.source_map or "")).encode()).hexdigest()

    @property
    def is_dependency(self) -> bool:
        """A chunk shared by other modules: never analyzed, never callable."""
        return self.path.startswith(("_deps/", "actions/_deps/"))
