"""Environments for programs. They are always built, never inherited."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def base_environment(home: Path, extra: Mapping[str, str] | None = None, *, path: str = SYSTEM_PATH) -> dict[str, str]:
    """The least that ordinary programs expect: PATH, HOME, LANG and TZ, the last two fixed so that output is too."""
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", **(extra or {})}
