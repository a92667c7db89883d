"""Code against an API that is not there."""

from convex_evals.analysis.classification.rules.rule import first_words
from convex_evals.analysis.classification.types import Classification
from convex_evals.analysis.evidence import Evidence


def invented_api(evidence: Evidence) -> Classification | None:
    """The answer uses something that the installed package does not have."""
    if not evidence.unknown_symbols:
        return None
    symbol = evidence.unknown_symbols[0]
    others = len(evidence.unknown_symbols) - 1
    more = f", and {others} more" if others else ""
    return Classification(
        "MODEL_FAULT",
        0.95,
        f"Uses an API that does not exist: {symbol}{more}.",
        f"The types of the installed convex package say that {symbol}{more}. "
        f"The step {evidence.failed_step} failed over code that cannot work in any project.",
        (f"{symbol.file}:{symbol.line}" if symbol.file else str(symbol), *first_words(evidence)),
        "invented_api",
    )
