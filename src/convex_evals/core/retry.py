"""How often what failed is tried again: the whole policy, so that tries never multiply.

| what                                             | tries | pauses in seconds                              |
| ------------------------------------------------ | ----- | ---------------------------------------------- |
| a question to a model                            | 5     | 1, 2, 4, 8; not before what the provider wants |
| … that was answered, if not in a way we can use  | 3     | the same; an answer may have to be paid for    |
| grading an answer                                | 3     | 1, 5                                           |
| grading the reference answer, to compare with it | 1     |                                                |
| sending records to a service                     | any   | ½, 1, 2 … 30; not before what the service wants |
| reading from a service                           | 4     | 0.2, 0.4, 0.8; not before what the service wants |

The provider's transport asks again, and the runner never does; the grading pool grades again, and nobody else does. An
eval and trial therefore takes at most five requests and three gradings per command.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Each pause is `factor` times as long as the one before it, up to the longest."""

    tries: int
    first_pause: float
    factor: float = 2.0
    longest_pause: float = 60.0

    def pause(self, failed: int) -> float:
        """Before the next try, after `failed` ones."""
        return float(min(self.longest_pause, self.first_pause * self.factor ** min(failed - 1, 64)))

    def allows(self, failed: int) -> bool:
        """Whether there is another try after `failed` ones."""
        return failed < self.tries


ASKING: Final = RetryPolicy(tries=5, first_pause=1.0)
UNUSABLE_ANSWERS: Final = 3
"""How often a question is asked at most when its answers are unusable, whatever else went wrong."""
SENDING: Final = RetryPolicy(tries=2**31, first_pause=0.5, longest_pause=30.0)
READING: Final = RetryPolicy(tries=4, first_pause=0.2)
GRADING: Final = RetryPolicy(tries=3, first_pause=1.0, factor=5.0)
