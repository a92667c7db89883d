"""Reference parity: does the reference pass the very check that the answer failed, and is it only the configuration?"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePosixPath
from typing import Final

from convex_evals.analysis.evidence import Evidence, Parity
from convex_evals.analysis.isolation import BoundReached, Outcome

Try = Callable[[Mapping[str, str]], Awaitable[Outcome | None]]
"""Puts files through the failed step. Raises BoundReached."""
_CODE: Final = frozenset({".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"})


async def examine_parity(evidence: Evidence, try_files: Try) -> Parity | None:
    """None when nothing could be tried. The reference goes first: with one that fails, nothing else says anything."""
    if not evidence.answer or not evidence.files:
        return None
    try:
        reference = await try_files(evidence.answer)
        if reference is None:
            return None
        parity = Parity(() if reference.passed else reference.complaints)
        swapped = with_configuration(evidence.files, evidence.answer)
        if not reference.passed or evidence.failed_step == "tests" or swapped == dict(evidence.files):
            return parity
        cured = await try_files(swapped)
    except BoundReached:
        return None
    return Parity((), cured.passed if cured is not None else None)


def with_configuration(files: Mapping[str, str], reference: Mapping[str, str]) -> dict[str, str]:
    """The answer's own code with package.json, tsconfig.json and the like from the reference."""
    return {
        **{path: text for path, text in files.items() if not is_configuration(path)},
        **{path: text for path, text in reference.items() if is_configuration(path)},
    }


def is_configuration(path: str) -> bool:
    """Whatever is not code; and code that only configures a tool, such as vite.config.ts."""
    name = PurePosixPath(path)
    return name.suffix not in _CODE or name.stem.endswith(".config")
