"""Asks the TypeScript compiler what a `convex` package offers. Its answer is kept, one per version."""

import json
import secrets
from pathlib import Path
from typing import Any, Final

from convex_evals.analysis.surface.surface import Surface
from convex_evals.core.errors import InfrastructureError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Toolchain

FORMAT: Final = 1  # of the kept answers
SECONDS: Final = 60.0
_SCRIPT: Final = Path(__file__).with_name("surface.mjs")


async def read_surface(convex: Path, toolchain: Toolchain, settings: Settings) -> Surface:
    """`convex` is the folder of the package. Raises InfrastructureError when the compiler does not answer."""
    version = _version(convex)
    kept = settings.cache_folder / "analysis" / "surfaces" / f"{FORMAT}-{version}.json"
    content = _read(kept)
    if content is None:
        content = await _ask(convex, toolchain, settings)
        kept.parent.mkdir(parents=True, exist_ok=True)
        incoming = kept.with_name(f".{secrets.token_hex(8)}")
        incoming.write_text(json.dumps(content))
        incoming.replace(kept)
    return Surface.from_json(content, version)


async def _ask(convex: Path, toolchain: Toolchain, settings: Settings) -> dict[str, Any]:
    packages = toolchain.packages.node_modules
    # A template of the package is run, so it may read and nothing else.
    limits = ["--permission", "--allow-fs-read=*"]
    command = [str(toolchain.node.executable), *limits, str(_SCRIPT), str(packages), str(convex)]
    environment = base_environment(settings.home, {}, path=settings.search_path)
    result = await run(command, cwd=packages, timeout=SECONDS, environment=environment, separate_errors=True)
    try:
        content: dict[str, Any] = json.loads(result.output.read())
    except ValueError as error:
        said = result.errors.text.strip() if result.errors else ""
        sentence = f"The types of {convex} cannot be read ({result.ending}): {said[-300:]}"
        raise InfrastructureError(sentence) from error
    return content


def _version(convex: Path) -> str:
    try:
        return str(json.loads((convex / "package.json").read_bytes())["version"])
    except (OSError, ValueError, KeyError) as error:
        raise InfrastructureError(f"{convex} is not an installed convex package.") from error


def _read(kept: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(kept.read_bytes())
    except (OSError, ValueError):
        return None
    return content
