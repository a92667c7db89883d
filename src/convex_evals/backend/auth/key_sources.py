"""Finding the key that a token names, also right after a provider changed its keys."""

from collections.abc import Callable

from convex_evals.backend.auth.answers import Answers
from convex_evals.backend.auth.fetching import Answer, Answered
from convex_evals.backend.auth.key_sets import KeySet, VerificationKey


async def find_key(
    answers: Answers, url: str, read: Callable[[Answer], KeySet], algorithm: str, key_id: str | None
) -> VerificationKey | None:
    """A key that is not in the kept key set may be new, so the set is fetched once more before giving up."""
    answer = await answers.get(url)
    key = read(answer).find(algorithm, key_id)
    if key is None and isinstance(answer, Answered):
        key = read(await answers.newer(url, answer)).find(algorithm, key_id)
    return key
