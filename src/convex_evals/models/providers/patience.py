"""How long is waited for an answer, and how often it is asked for."""

import random
from dataclasses import dataclass

from convex_evals.core.retry import ASKING, UNUSABLE_ANSWERS, RetryPolicy


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. Waiting for one's turn is not waiting for an answer."""

    deadline: float = 1800.0  # for everything: all tries, and the pauses between them
    first_token: float = 900.0  # models that think silently take their time
    stall: float = 180.0  # between two pieces of text
    connect: float = 15.0
    tries: int = ASKING.tries
    unusable_answers: int = UNUSABLE_ANSWERS
    first_pause: float = ASKING.first_pause
    longest_pause: float = ASKING.longest_pause

    def pause(self, failed: int, retry_after: float | None = None, chance: float | None = None) -> float:
        """Before the next try, after `failed` ones: twice as long each time, and never the same for two who wait.

        What the provider asks for is the least; `chance` is a number from 0 to 1, random unless given.
        """
        chance = random.random() if chance is None else chance
        policy = RetryPolicy(self.tries, self.first_pause, longest_pause=self.longest_pause)
        longest = policy.pause(failed)
        jittered = longest * (0.5 + chance / 2)
        return jittered if retry_after is None else retry_after + jittered / 2
