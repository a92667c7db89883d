"""The versions of the `convex` package that this project supports. Nothing else in the project names them.

The toolchain's `package.json` pins two: `convex`, which everything uses unless a project names another version, and
`convex-latest`, the newest. What lies between the oldest and the newest works, too.
"""

import json
import re
from pathlib import Path
from typing import Final

OLDEST: Final = "1.31"  # older ones use a deploy API that our deployments lack

_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,4})\.\d{1,4}(?:-[0-9A-Za-z.-]{1,60})?", re.ASCII)
_PINNED: Final = json.loads((Path(__file__).parent / "toolchain/package.json").read_text())["dependencies"]

DEFAULT: Final[str] = _PINNED["convex"]


def is_supported(version: str) -> bool:
    """A released version whose command our deployments understand."""
    match = _VERSION.fullmatch(version)
    return match is not None and (int(match[1]), int(match[2])) >= tuple(map(int, OLDEST.split(".")))
