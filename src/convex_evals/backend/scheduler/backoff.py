"""How long to wait before trying again what our own failure prevented."""

import random


def backoff_seconds(failures: int, first: float, longest: float) -> float:
    """Doubles with every failure. Half of it is left to chance: what failed together is not tried together."""
    most = min(first * 2.0 ** min(failures, 32), longest)
    return random.uniform(most / 2, most)
