"""The package versions that a model is told: those that we type-check with ourselves."""

import json
from functools import cache
from typing import Final

from convex_evals.core.toolchain import toolchain_packages

NAMED: Final = ("convex", "typescript", "@types/node", "react", "react-dom", "@types/react", "@types/react-dom")


@cache
def known_packages() -> dict[str, str]:
    """By name, in a fixed order."""
    dependencies = json.loads(toolchain_packages().manifest)["dependencies"]
    return {name: str(dependencies[name]) for name in NAMED}
