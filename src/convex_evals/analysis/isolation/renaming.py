"""The reference in the words of the answer: another name for the same index is no cause."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from convex_evals.analysis.evidence import Difference

_CALLED: Final = "called "


def with_names_of_answer(reference: Mapping[str, str], differences: Iterable[Difference]) -> dict[str, str]:
    """Indexes that cover the same fields are called in the reference what the answer calls them."""
    names = {
        (each.expected or "").removeprefix(_CALLED): (each.received or "").removeprefix(_CALLED)
        for each in differences
        if each.aspect == "index" and (each.expected or "").startswith(_CALLED)
    }
    if not names:
        return dict(reference)
    pattern = re.compile(rf"([\"'])({'|'.join(map(re.escape, names))})\1")
    return {
        path: pattern.sub(lambda found: f"{found[1]}{names[found[2]]}{found[1]}", text)
        for path, text in reference.items()
    }
